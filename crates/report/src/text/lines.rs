//! Lines of plain text: paragraphs broken between words, and how wide a column is.

/// Widest column of a table; what is longer, as names from elsewhere may be, sticks out.
const COLUMN_MAX: usize = 120;

/// How wide a column of these texts is.
pub fn column<'a>(texts: impl IntoIterator<Item = &'a str>) -> usize {
    let widths = texts.into_iter().map(|text| text.chars().count());
    widths.max().unwrap_or(0).min(COLUMN_MAX)
}

/// Breaks a paragraph into lines of at most `width` columns, all but the first indented.
///
/// A word longer than a line stays whole: a command or an address must be copied as it is.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (i, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(indent);
            column = indent.chars().count();
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_broken_between_words() {
        assert_eq!(wrap("one two three", 7, ""), "one two\nthree");
        assert_eq!(wrap("one two three four", 9, "  "), "one two\n  three\n  four");
        assert_eq!(wrap("averyveryverylongword x", 6, ""), "averyveryverylongword\nx");
        assert_eq!(wrap("", 6, ""), "");
    }

    #[test]
    fn columns_have_an_end() {
        assert_eq!(column(["a", "\u{e4}\u{e4}\u{e4}", ""]), 3);
        let long = "a".repeat(100_000);
        // A width of more than 16 bits cannot be formatted.
        assert_eq!(format!("{:1$}", long, column([long.as_str()])).len(), 100_000);
    }
}
