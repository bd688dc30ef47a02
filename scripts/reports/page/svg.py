"""Figures for the inside of a page: SVG that shares one document with others; reads and writes nothing."""

from __future__ import annotations

import io
import re

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from scripts.reports.figures.fonts import missing_glyphs_reported_once
from scripts.reports.figures.forest import STYLE

# Matplotlib names one font; a reader without it would get the browser's serif.
FONTS = "'DejaVu Sans', Verdana, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"


def svg_of(figure: Figure) -> str:
    """A figure as SVG, as `forest.save` would write it."""
    file = io.StringIO()
    with matplotlib.rc_context(STYLE), missing_glyphs_reported_once():
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def inline(svg: str, prefix: str, label: str) -> Markup:
    """A matplotlib SVG for the inside of a page, transparent and as wide as its box; `label` says what it shows.

    Unused ids are removed; the others get `prefix`, so that several figures can share a page. The style sheet would
    hold for the whole page, so it is removed and its two properties become attributes.
    """
    body = svg[svg.index("<svg") :]
    for removed in (r"<metadata>.*?</metadata>", r"<style.*?</style>", r"<!--.*?-->", r'<g id="patch_1">.*?</g>'):
        body = re.sub(removed, "", body, count=0 if removed.startswith("<!") else 1, flags=re.DOTALL)
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', body))
    names = {name for pair in used for name in pair if name}
    body = re.sub(r' id="([^"]*)"', lambda match: f' id="{prefix}-{match[1]}"' if match[1] in names else "", body)
    body = re.sub(r"url\(#", f"url(#{prefix}-", body)
    body = re.sub(r'(?:xlink:)?href="#', f'href="#{prefix}-', body)
    body = body.replace("font-family: 'DejaVu Sans'", f"font-family: {FONTS}")
    body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(r"\s*\n\s*", "\n", body).strip()
    box = re.search(r'viewBox="[^"]*"', body)[0]
    start = '<svg role="img" aria-label="{}" stroke-linejoin="round" stroke-linecap="butt" '
    return Markup(start).format(label) + Markup(f"{box}>{body[body.index('>') + 1 :]}")
