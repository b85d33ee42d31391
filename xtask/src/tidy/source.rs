//! A Rust file taken apart just far enough for the rules: code without comments and literals,
//! the comments, the string literals, the lines that belong to tests, and the functions.
//!
//! A rule that looked at the raw text would stumble over its own description.

/// A Rust file.
#[derive(Debug)]
pub struct Source {
    /// Path from the root of the workspace, with `/`.
    pub path: String,
    /// The file as it stands.
    pub text: String,
    /// The same, with everything in comments and literals replaced by blanks.
    pub code: String,
    /// Comments with the number of their first line, counted from 1.
    pub comments: Vec<(usize, String)>,
    /// String literals likewise.
    pub strings: Vec<(usize, String)>,
    in_tests: Vec<bool>,
}

/// A function with a body, by its first and last line.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Name of the function.
    pub name: String,
    /// Line of `fn`, counted from 1.
    pub first: usize,
    /// Line of the closing brace, or of the semicolon if there is no body.
    pub last: usize,
}

impl Source {
    /// Takes `text`, found at `path`, apart.
    pub fn new(path: &str, text: &str) -> Self {
        let mut scan = Scan { rest: text, line: 1, ..Scan::default() };
        scan.run();
        let in_tests = match is_test_path(path) {
            true => vec![true; text.lines().count()],
            false => test_lines(&scan.code),
        };
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
            code: scan.code,
            comments: scan.comments,
            strings: scan.strings,
            in_tests,
        }
    }

    /// True if the line, counted from 1, belongs to a test.
    pub fn is_test(&self, line: usize) -> bool {
        self.in_tests.get(line.saturating_sub(1)).copied().unwrap_or(false)
    }

    /// Lines of code with their numbers, counted from 1.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(i, line)| (i + 1, line))
    }

    /// Words (identifiers and keywords) of the code with their lines.
    pub fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code_lines().flat_map(|(n, line)| words(line).map(move |w| (n, w)))
    }

    /// Functions and methods in the order in which they begin.
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let bounded = !self.code[..at].chars().next_back().is_some_and(is_word);
            let name: String = self.code[at + 3..].chars().take_while(|c| is_word(*c)).collect();
            if bounded && !name.is_empty() {
                let end = end_of_item(&self.code, at);
                found.push(Function {
                    name,
                    first: line_at(&self.code, at),
                    last: line_at(&self.code, end),
                });
            }
        }
        found
    }
}

/// The words of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|w| !w.is_empty())
}

/// The items of a list in braces, from behind the opening one up to the closing one.
pub fn items(list: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                found.push(list[start..i].trim());
                start = i + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_test_path(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    matches!(file, "tests.rs" | "test.rs")
        || parts.any(|folder| matches!(folder, "tests" | "benches" | "examples"))
}

/// Index of the brace or semicolon that ends the item which starts at `from`.
fn end_of_item(code: &str, from: usize) -> usize {
    let mut braces = 0_usize;
    let mut brackets = 0_usize;
    for (i, c) in code[from..].char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            '{' => braces += 1,
            '}' if braces <= 1 => return from + i,
            '}' => braces -= 1,
            ';' if braces == 0 && brackets == 0 => return from + i,
            _ => {}
        }
    }
    code.len()
}

fn line_at(code: &str, index: usize) -> usize {
    code[..index].matches('\n').count() + 1
}

/// Marks the lines of items that carry `#[cfg(test)]` or a condition that requires it.
fn test_lines(code: &str) -> Vec<bool> {
    let mut marked = vec![false; code.lines().count()];
    for (at, _) in code.match_indices("#[cfg(") {
        let after = end_of_attribute(code, at);
        let condition = &code[at..after];
        let instead = ["not(test", "any("].iter().any(|way| condition.contains(way));
        if words(condition).any(|w| w == "test") && !instead {
            let last = line_at(code, end_of_item(code, after));
            marked[line_at(code, at) - 1..last].fill(true);
        }
    }
    marked
}

/// Index after the closing bracket of the attribute that starts at `at`.
fn end_of_attribute(code: &str, at: usize) -> usize {
    let mut depth = 0_usize;
    for (i, c) in code[at..].char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return at + i + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

/// Walks through the text once, from one comment or literal to the next.
#[derive(Default)]
struct Scan<'a> {
    rest: &'a str,
    line: usize,
    code: String,
    comments: Vec<(usize, String)>,
    strings: Vec<(usize, String)>,
}

impl<'a> Scan<'a> {
    fn run(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                let comment = (self.line, self.blank(end).to_owned());
                self.comments.push(comment);
            } else if self.rest.starts_with("/*") {
                let comment = (self.line, self.blank(block_comment(self.rest)).to_owned());
                self.comments.push(comment);
            } else if let Some(opening) = string_opening(self.rest) {
                self.string(opening);
            } else if let Some(length) = char_literal(self.rest) {
                self.blank(length);
            } else if is_word(c) {
                // A whole word at once, so that the `r` in `for"…"` opens no raw string.
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                self.keep(end);
            } else {
                self.keep(c.len_utf8());
            }
        }
    }

    fn string(&mut self, opening: Opening) {
        self.keep(opening.length);
        let length = match opening.hashes {
            Some(hashes) => {
                let end = format!("\"{}", "#".repeat(hashes));
                self.rest.find(&end).unwrap_or(self.rest.len())
            }
            None => escaped_string(self.rest),
        };
        let literal = (self.line, self.blank(length).to_owned());
        self.strings.push(literal);
        self.keep((1 + opening.hashes.unwrap_or(0)).min(self.rest.len()));
    }

    fn keep(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.code.push_str(taken);
        self.rest = rest;
    }

    fn blank(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.code.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
        taken
    }
}

/// The opening of a string literal; `hashes` is present for a raw one.
struct Opening {
    length: usize,
    hashes: Option<usize>,
}

fn string_opening(text: &str) -> Option<Opening> {
    let prefix = text.find(|c| !matches!(c, 'b' | 'c' | 'r')).unwrap_or(0);
    let hashes = text[prefix..].find(|c| c != '#')?;
    let raw = text[..prefix].ends_with('r');
    let known = matches!(&text[..prefix], "" | "b" | "c" | "r" | "br" | "cr");
    let opens = known && text[prefix + hashes..].starts_with('"') && (raw || hashes == 0);
    opens.then_some(Opening { length: prefix + hashes + 1, hashes: raw.then_some(hashes) })
}

fn escaped_string(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' if !escaped => return i,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// Length of a character literal at the start of the text; a lifetime is none.
fn char_literal(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    let body = match first {
        '\\' => 2 + inner.get(2..)?.find('\'')?,
        _ => first.len_utf8(),
    };
    inner.get(body..)?.starts_with('\'').then_some(body + 2)
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut i = 0;
    while let Some(pair) = text.as_bytes().get(i..i + 2) {
        match pair {
            b"/*" => (depth, i) = (depth + 1, i + 2),
            b"*/" if depth == 1 => return i + 2,
            b"*/" => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
