"""Executes notebooks and gives what their charts show, as numbers."""

import base64
import io
import json
import sys

import matplotlib.image
import nbclient
import nbformat
import traitlets.config

# What is drawn is read when a chart is shown: afterwards it is gone.
RECORD = '''
import matplotlib.pyplot as _plt

_charts = []


def _numbers(values):
    return [float(v) for v in values]


def _record(show=_plt.show):
    for ax in _plt.gcf().axes:
        bars = []
        for c in ax.containers:
            line, _, ranges = c.lines
            for x, y, ((_, low), (_, high)) in zip(line.get_xdata(orig=False), line.get_ydata(orig=False), ranges[0].get_segments()):
                bars.append([c.get_label(), float(x), float(y), float(low), float(high)])
        lines = [[line.get_label(), _numbers(line.get_xdata(orig=False)), _numbers(line.get_ydata(orig=False))] for line in ax.lines]
        _charts.append({"title": ax.get_title(), "x": ax.get_xlabel(), "y": ax.get_ylabel(), "bars": bars, "lines": lines})
    show()


_plt.show = _record
'''


def execute(path, out, wanted):
    """The charts of a notebook, and the value of the expression wanted after its last cell, both by way of JSON. The notebook with its
    outputs goes to out."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    if any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells):
        sys.exit("the notebook has outputs: clear them")
    notebook.cells.insert(0, nbformat.v4.new_code_cell(RECORD))
    notebook.cells.append(nbformat.v4.new_code_cell(f"import json\nprint(json.dumps([_charts, {wanted}], default=str))"))
    sockets = traitlets.config.Config({"KernelManager": {"transport": "ipc"}})  # there may be no network, not even a loopback
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", config=sockets).execute()
    nbformat.write(notebook, out)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    noise = [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
    if noise:
        sys.exit(f"the notebook says {noise}")
    pictures = [o.data["image/png"] for o in outputs if "image/png" in o.get("data", {})]
    for picture in pictures:
        if matplotlib.image.imread(io.BytesIO(base64.b64decode(picture)))[:, :, :3].std() < 0.02:
            sys.exit("a picture is blank")
    charts, value = json.loads(outputs[-1].text)
    return charts, value, len(pictures)


def same(what, got, want):
    """Ends the program where two values differ: numbers by more than a rounding."""
    if isinstance(want, (list, tuple)):
        if len(got) != len(want):
            sys.exit(f"{what}: {len(got)} values, want {len(want)}:\n{got}\n{want}")
        for i, (one, other) in enumerate(zip(got, want)):
            same(f"{what}[{i}]", one, other)
    elif isinstance(want, dict):
        same(what, sorted(got.items()), sorted(want.items()))
    elif isinstance(want, float) and isinstance(got, (int, float)):
        if abs(got - want) > 1e-9 * abs(want):
            sys.exit(f"{what}: {got!r}, want {want!r}")
    elif got != want:
        sys.exit(f"{what}: {got!r}, want {want!r}")
