(element (start_tag) @signature)
