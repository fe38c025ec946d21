"""draw.py -- README's pictures of the running fleet, from what it has told: the same data makes the same pictures.

    python3 samples/pictures/draw.py FOLDER OUT

FOLDER has board.json and history.json of the fleet's page, and screen.txt, what it wrote to a terminal. OUT gets
page.svg and view.svg. samples/pictures.sh makes the data anew.
"""

import json
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

INK, FAINT, PAPER, EDGE = "#1c2430", "#5a6675", "#f4f6f9", "#8793a3"
FRAME, TICK = "#2a8a66", "#c2701b"
FRAME_US = 16667


class Drawing:
    """An SVG, piece by piece."""

    def __init__(self, width, label, style):
        self.width, self.label, self.style = width, label, style
        self.parts = []

    def add(self, part):
        self.parts.append(part)

    def text(self, x, y, words, kind="", anchor="start"):
        kind = f' class="{kind}"' if kind else ""
        self.add(f'<text{kind} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(str(words))}</text>')

    def line(self, points, colour, dash=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.add(f'<polyline points="{path}" fill="none" stroke="{colour}"{dash}/>')

    def bar(self, x, y, width, height, colour):
        self.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def save(self, path, height):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height:g}" role="img" '
                f'aria-label="{escape(self.label)}">\n<style>{self.style}</style>\n'
                f'<rect width="{self.width}" height="{height:g}" rx="6" fill="{PAPER}" stroke="{EDGE}"/>\n')
        path.write_text(head + "\n".join(self.parts) + "\n</svg>\n")


# ---- the page -------------------------------------------------------------------------------------------------------

def places(values, left, top, width, height, most):
    """Where the points of a line lie; 0 is a second in which there was nothing to see."""
    step = width / max(1, len(values) - 1)
    return [(left + i * step, top + height - height * value / most) for i, value in enumerate(values) if value > 0]


def draw_times(d, server, left, top, width, height):
    most = max([20000] + server["frame_us"])
    d.add(f'<text x="{left:g}" y="{top - 6:g}">{escape(server["name"])}: <tspan fill="{FRAME}">longest frame</tspan>, '
          f'<tspan fill="{TICK}">longest tick</tspan></text>')
    d.add(f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#fff" stroke="{EDGE}"/>')
    limit = top + height - height * FRAME_US / most
    d.line([(left, limit), (left + width, limit)], EDGE, "4 4")
    d.text(left + width, top - 6, f"of each second, 0 to {most / 1000:.0f} ms", "s", "end")
    d.text(left + 3, limit + 11, "16.7", "n")
    d.line(places(server["frame_us"], left, top, width, height, most), FRAME)
    d.line(places(server["tick_us"], left, top, width, height, most), TICK)


def bar_label(bars, i):
    if i == 0:
        return f'<{bars["from_ms"]}'
    from_ms = bars["from_ms"] + i - 1
    return f'\u2265{from_ms}' if i == len(bars["counts"]) - 1 else str(from_ms)


def draw_bars(d, process, left, top, width, height):
    bars = process["frame_bars"]
    counts = bars["counts"]
    step, most = width / len(counts), max([1] + counts)
    d.text(left, top - 6, f'{process["name"]}: {process["frames"]} frames by their length, ms')
    for i, count in enumerate(counts):
        x = left + i * step
        tall = height * count / most
        if count > 0:
            d.bar(x + 2, top + 12 + height - tall, step - 4, max(1, tall), FRAME)
            d.text(x + step / 2, top + 8 + height - tall, count, "n", "middle")
        d.text(x + step / 2, top + height + 25, bar_label(bars, i), "n", "middle")


def draw_system(d, system, left, top, width):
    values = system["ops_each_s"]
    most = max([1] + values)
    step = (width - 330) / max(1, len(values) - 1)
    d.text(left, top, system["name"])
    d.text(left + 180, top, f"{values[-1] if values else 0} /s", "", "end")
    d.text(left + 290, top, f'{system["total"]} in all', "s", "end")
    d.line([(left + 320 + i * step, top - 12 * value / most) for i, value in enumerate(values)], FRAME)


def draw_page(board, history, out):
    """The same as the page in a browser: longest times, bars of 1 ms, ops a second."""
    style = (f"text{{font:13px system-ui,sans-serif}} text,.b{{fill:{INK}}} .s{{font-size:12px;fill:{FAINT}}} "
             f".n{{font-size:10px;fill:{FAINT}}} .b{{font-weight:700}}")
    d = Drawing(960, "The page of the sample fleet", style)
    players = sum(process["players"] for process in board["processes"] if process["role"] == "server")
    d.text(20, 28, f'Guildhall fleet, after {board["running_us"] // 1000000} s, {players} players', "b")
    servers = [process for process in board["processes"] if process["role"] == "server"]
    width = (920 - 20 * (len(servers) - 1)) / max(1, len(servers))
    for i, server in enumerate(history["servers"]):
        draw_times(d, server, 20 + i * (width + 20), 64, width, 90)
    for i, server in enumerate(servers):
        draw_bars(d, server, 20 + i * (width + 20), 190, width, 80)
    d.text(20, 326, "Ops of Guildhall that ended, by system, of all processes")
    systems = sorted(history["systems"], key=lambda system: (-system["total"], system["name"]))
    for i, system in enumerate(systems):
        draw_system(d, system, 20 + i % 2 * 470, 352 + i // 2 * 22, 450)
    d.save(out / "page.svg", 352 + (len(systems) + 1) // 2 * 22)


# ---- the terminal ---------------------------------------------------------------------------------------------------

def view_of(screen, running_s):
    """The lines of the last picture that was drawn whole while the fleet played, no later than that."""
    head = re.compile(r"\x1b\[1mGuildhall fleet\x1b\[0m +playing, (\d+) s")
    chosen = None
    for view in screen.split("\x1b[H"):
        found = head.match(view)
        if found and "\x1b[J" in view and int(found[1]) <= running_s:
            chosen = view.split("\x1b[J")[0]
    if chosen is None:
        sys.exit("draw.py: screen.txt shows no fleet that plays")
    lines = [line.replace("\x1b[K", "").rstrip() for line in re.split(r"\r*\n", chosen)]
    lines = [line for line in lines if not re.match(r" *[0-9.]+ s ago ", line)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def draw_view(screen, running_s, out):
    style = (f'text{{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:{INK};'
             "white-space:pre} .b{font-weight:700}")
    lines = view_of(screen, running_s)
    d = Drawing(48 + 8 * max(len(line) for line in lines), "The live view of the sample fleet in a terminal", style)
    for i, line in enumerate(lines):
        words = escape(line).replace("\x1b[1m", '<tspan class="b">').replace("\x1b[0m", "</tspan>")
        if words:
            d.add(f'<text x="16" y="{26 + 17 * i}" xml:space="preserve">{words}</text>')
    d.save(out / "view.svg", 26 + 17 * len(lines))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: draw.py FOLDER OUT")
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    board = json.loads((folder / "board.json").read_text())
    history = json.loads((folder / "history.json").read_text())
    draw_page(board, history, out)
    with (folder / "screen.txt").open(newline="", errors="replace") as screen:
        draw_view(screen.read(), board["running_us"] // 1000000, out)


main()
