"""The core: from a document and a cursor to spans, canvases and judged candidates."""
