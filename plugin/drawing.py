"""Blocks as the App's own views, and a click back to what it shows."""

from __future__ import annotations

import html

from fiftyone.operators import types

from fiftyone_hsd.report.wording import short, shown

from .blocks import Actions, Buttons, Choice, Head, Plot, Rows, Said, Slide

LEGEND = 40
"""Pixels above a plot that one line of its legend takes."""
FONT = {"size": 12}


def draw(panel, blocks, on):
    """Define the views of some blocks on a panel's object; `on` holds the panel's handlers."""
    for number, block in enumerate(blocks):
        name = getattr(block, "name", f"text_{number}")
        if isinstance(block, Head):
            panel.view(name, types.HeaderView(label=shown(block.title), description=shown(block.text), divider=False))
        elif isinstance(block, Said):
            panel.view(
                name, types.AlertView(severity=block.severity, label=shown(block.text), description=shown(block.more))
            )
        elif isinstance(block, Choice):
            view = types.DropdownView()
            for value, label in block.values:
                view.add_choice(value, label=shown(label))
            panel.enum(name, view.values(), label=block.label, default=block.value, view=view, on_change=on.on_choice)
        elif isinstance(block, Slide):
            _slide(panel, block, on)
        elif isinstance(block, Buttons):
            _buttons(panel, block, on)
        elif isinstance(block, Actions):
            _actions(panel, block, on)
        elif isinstance(block, Plot):
            _plot(panel, block, on)
        elif isinstance(block, Rows):
            _rows(panel, block, on)


def data(blocks):
    """Name -> data of the plots and tables among some blocks."""
    found = {b.name: [dict(t) for t in b.traces] for b in blocks if isinstance(b, Plot)}
    for block in blocks:
        if isinstance(block, Rows):
            found[block.name] = [{k: shown(v) if isinstance(v, str) else v for k, v in r.items()} for r in block.rows]
    return found


def click(blocks, params):
    """What a click on one of the blocks shows, None if nothing."""
    name = str(params.get("block") or str(params.get("path") or "").split(".")[0])
    block = next((b for b in blocks if getattr(b, "name", None) == name), None)
    index = params.get("row", params.get("idx"))
    if block is None or not isinstance(index, int) or index < 0:
        return None
    clicks = getattr(block, "clicks", ())
    if isinstance(block, Plot):
        trace = params.get("trace_idx")
        trace = trace if isinstance(trace, int) else _trace(block, params.get("trace"))
        clicks = clicks[trace] if 0 <= trace < len(clicks) else ()
    return clicks[index] if index < len(clicks) else None


def tick(text, length=28):
    """A name as plotly text, which would read tags."""
    return html.escape(short(text, length))


def _trace(block, name):
    names = [t.get("name") for t in block.traces]
    return names.index(name) if name in names else 0


def _slide(panel, block, on):
    view = types.SliderView(label=block.label, value_label_display="on")
    panel.float(
        block.name,
        label=block.label,
        min=block.low,
        max=block.high,
        multipleOf=block.step,
        default=block.value,
        view=view,
        on_change=on.on_choice,
    )


def _buttons(panel, block, on):
    row = panel.h_stack(f"{block.name}_row", gap=1, wrap=True)
    for i, one in enumerate(block.clicks):
        row.btn(
            f"{block.name}_{i}",
            label=shown(one.label),
            on_click=on.on_show,
            params={"block": block.name, "idx": i},
            variant="outlined",
        )


def _actions(panel, block, on):
    row = panel.h_stack(f"{block.name}_row", gap=1, wrap=True)
    for i, (label, _, _) in enumerate(block.operators):
        row.btn(
            f"{block.name}_{i}",
            label=label,
            on_click=on.on_operator,
            params={"block": block.name, "idx": i},
            variant="contained",
        )


def _plot(panel, block, on):
    # The App hides legends unless asked.
    legend = sum("name" in t for t in block.traces) > 1
    margin = {"t": 10, "b": 40, "l": 50, "r": 10, **block.layout.get("margin", {})}
    layout = {"height": block.height, "font": FONT, "showlegend": legend, **block.layout, "margin": margin}
    if legend:
        # Above the plot: beside it, where the App puts it, a legend would take half of a narrow panel.
        layout["legend"] = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"}
        margin["t"] = max(margin["t"], LEGEND)
    handlers = {"on_click": on.on_show} if block.clicks else {}
    panel.plot(block.name, layout=layout, config={"displayModeBar": False, "responsive": True}, **handlers)


def _rows(panel, block, on):
    # The App's own least width of a table would push a narrow panel over its right edge.
    cells, heads = {"overflowWrap": "anywhere", "padding": "5px 8px"}, {"padding": "5px 8px"}
    table = types.TableView(componentsProps={"table": {"sx": {"minWidth": 0, "& td": cells, "& th": heads}}})
    for key, label in block.columns:
        table.add_column(key, label=label)
    if block.clicks:
        table.add_row_action("show", on_click=on.on_show, icon="visibility", tooltip=block.action)
    panel.list(block.name, types.Object(), view=table)
