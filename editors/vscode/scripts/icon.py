"""Draws images/icon.png: a silver plate, its engraved line filled with black to the edges."""

from pathlib import Path

from PIL import Image, ImageDraw

SIZE, SCALE = 128, 4


def draw() -> Image.Image:
    """Return the icon."""
    side = SIZE * SCALE
    image = Image.new("RGBA", (side, side))
    pen = ImageDraw.Draw(image)
    edge = side // 16
    pen.rounded_rectangle(
        (edge, edge, side - edge, side - edge), side // 6, fill=(201, 206, 214)
    )
    ink, width = (24, 26, 31), side // 11
    top, bottom = side * 5 // 16, side * 11 // 16
    left, right = side * 5 // 16, side * 11 // 16
    points = [(left, bottom), (left, top), (right, bottom), (right, top)]
    pen.line(points, fill=ink, width=width, joint="curve")
    for x, y in (points[0], points[-1]):
        pen.ellipse((x - width // 2, y - width // 2, x + width // 2, y + width // 2), ink)
    return image.resize((SIZE, SIZE), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    target = Path(__file__).resolve().parents[1] / "images" / "icon.png"
    draw().save(target, optimize=True)
