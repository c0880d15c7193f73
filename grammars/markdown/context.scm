(atx_heading) @signature
(setext_heading) @signature
