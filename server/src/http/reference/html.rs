//! HTML in the making, in which every text is escaped.

/// A piece of a page.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds what is HTML already.
    pub(super) fn raw(&mut self, html: &str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    /// Adds a text.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                other => self.0.push(other),
            }
        }
        self
    }

    /// Adds a text as code.
    pub(super) fn code(&mut self, text: &str) -> &mut Self {
        self.raw("<code>").text(text).raw("</code>")
    }

    /// Adds a text in which `**…**` is important and what stands between backticks is code.
    pub(super) fn inline(&mut self, text: &str) -> &mut Self {
        for (index, part) in text.split('`').enumerate() {
            if index % 2 == 1 {
                self.code(part);
                continue;
            }
            for (index, part) in part.split("**").enumerate() {
                if index % 2 == 1 {
                    self.raw("<strong>").text(part).raw("</strong>");
                } else {
                    self.text(part);
                }
            }
        }
        self
    }

    /// Adds paragraphs, which are parted by empty lines.
    pub(super) fn prose(&mut self, text: &str) -> &mut Self {
        for paragraph in text.split("\n\n").filter(|text| !text.trim().is_empty()) {
            self.raw("<p>").inline(paragraph.trim()).raw("</p>");
        }
        self
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn marks_are_understood_and_texts_escaped() {
        let mut html = Html::default();
        html.prose("Say `<b>`, **now** & here.\n\nThen go.");
        assert_eq!(
            html.into_string(),
            "<p>Say <code>&lt;b&gt;</code>, <strong>now</strong> &amp; here.</p><p>Then go.</p>"
        );
    }
}
