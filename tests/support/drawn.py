"""Drawn texts stay on the page and lie on no other."""


def check_texts(figure):
    """All texts of the first axes are on the page, and each is beside, above or below every other."""
    figure.draw_without_rendering()
    renderer, page = figure.canvas.get_renderer(), figure.bbox.padded(0.5)
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    for said, box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1, said
    for place, (said, box) in enumerate(boxes):
        for other, its in boxes[place + 1 :]:
            apart = box.x1 <= its.x0 or its.x1 <= box.x0 or box.y1 <= its.y0 + 1 or its.y1 <= box.y0 + 1
            assert apart, (said, other)
