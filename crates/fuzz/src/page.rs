//! A journal from elsewhere, analysed and shown: whatever its numbers and words are, every form of
//! the answer can be made, and nothing in it becomes markup, a handler or a control character.

use crate::document::{self, MARK, TEXTS};
use crate::templates::LINES;
use arbitrary::{Result, Unstructured};
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use serde_json::{Value, json};
use std::cell::Cell;
use v6gap_core::record::{self, Line};
use v6gap_judge::analysis::{Analysis, analyse};
use v6gap_report::html::{PageInfo, page};
use v6gap_report::text::Style;
use v6gap_report::{CiteForm, bibtex, cite, csv_questions, csv_trials, json, latex, markdown};
use v6gap_report::{json_line, parquet, sockets, stream, text};

/// Words of a header that others choose, one of which is always changed: few other changes reach
/// them.
const WORDS: [&str; 7] = [
    "/target",
    "/tool",
    "/hosts/client/name",
    "/hosts/server/name",
    "/hosts/server/facts/kernel",
    "/plan/name",
    "/plan/description",
];

/// Longest page of a journal of this size, in bytes.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// Most blocks that are made of those recorded.
const COPIES_MAX: u8 = 6;

/// The bytes say how often the recorded blocks are repeated, what is changed in which line, and
/// what is made of it besides the page.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let Ok(form) = bytes.arbitrary::<u8>() else { return };
    let Ok(lines) = lines(&mut bytes) else { return };
    let Ok(analysis) = analyse(&lines) else { return };
    let sockets = sockets(&lines);
    let command = format!("v6gap run {}", analysis.run.target);
    let facsimile = form & 0x80 != 0;
    let info = PageInfo { title: "", command: &command, sockets: &sockets, facsimile };
    let html = page(&analysis, &info);
    assert!(html.len() <= PAGE_BYTES_MAX, "a page of {} bytes", html.len());
    clean(&html, "page");
    markup(&html);
    others(form % 16, &lines, &analysis, &command);
}

/// The recorded lines, repeated and changed, as far as they can still be read.
fn lines(bytes: &mut Unstructured<'_>) -> Result<Vec<Line>> {
    let copies = bytes.arbitrary::<u8>()? % COPIES_MAX;
    let mut documents = LINES.clone();
    let end = documents.pop();
    for copy in 1..=copies {
        let again = LINES.iter().filter(|line| line["block"].is_u64());
        documents.extend(again.map(|line| moved(line, copy)));
    }
    documents.extend(end);
    let (word, place) = bytes.arbitrary::<(u8, u8)>()?;
    let place = WORDS[usize::from(place) % WORDS.len()];
    if let Some(found) = documents.first_mut().and_then(|header| header.pointer_mut(place)) {
        *found = json!(TEXTS[usize::from(word) % TEXTS.len()]);
    }
    while !bytes.is_empty() {
        let at = bytes.int_in_range(0..=documents.len() - 1)?;
        let length = usize::from(bytes.arbitrary::<u8>()? % 32).min(bytes.len());
        document::change(&mut documents[at], &mut Unstructured::new(bytes.bytes(length)?));
    }
    Ok(documents.iter().filter_map(|line| record::decode(&line.to_string()).ok()).collect())
}

/// `line` of a later block, its values a little different.
fn moved(line: &Value, copy: u8) -> Value {
    let mut line = line.clone();
    for field in ["block", "round"] {
        if let Some(number) = line[field].as_u64() {
            line[field] = json!(number + 100 * u64::from(copy));
        }
    }
    let sign = if line["arm"] == "a" { 1.0 } else { -1.0 };
    for value in line["values"].as_object_mut().into_iter().flatten() {
        let more = 1.0 + sign * f64::from(copy) / 1000.0;
        *value.1 = value.1.as_f64().map_or(Value::Null, |number| json!(number * more));
    }
    line
}

/// One of the other forms of an answer.
fn others(form: u8, lines: &[Line], analysis: &Analysis, command: &str) {
    match form {
        0 | 1 => {
            let style = Style { plain: form == 1, ..Style::default() };
            clean(&text::table(analysis, &style), "text");
            clean(&text::verbose(analysis, lines, &style), "text");
        }
        2 | 3 => clean(&markdown(analysis), "Markdown"),
        4 => clean(&latex(analysis), "LaTeX"),
        5 => {
            for form in [CiteForm::Text, CiteForm::Latex] {
                clean(&cite(analysis, command, form), "citation");
            }
            clean(&bibtex(analysis), "BibTeX");
        }
        6 | 7 => {
            for text in [json(analysis), json_line(analysis)] {
                assert!(serde_json::from_str::<Value>(&text).is_ok(), "no JSON");
            }
        }
        8 => rows(&csv_trials(lines)),
        9 => rows(&csv_questions(analysis)),
        10 => {
            let begin = stream::begin(&analysis.run);
            for line in begin.lines().chain(stream::end(analysis).lines()) {
                assert!(serde_json::from_str::<Value>(line).is_ok(), "no JSON: {line}");
            }
        }
        11 => drop(parquet(lines, analysis)),
        _ => {}
    }
}

/// Nothing in it drives a terminal, or turns or hides what stands beside it.
fn clean(text: &str, form: &str) {
    let unsafe_char =
        |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202a}'..='\u{202e}'));
    let found = text.chars().position(unsafe_char);
    assert_eq!(found, None, "an unsafe character in the {form}");
}

/// Every record has as many cells as the first.
fn rows(csv: &str) {
    let mut cells = Vec::new();
    let (mut count, mut quoted) = (1, false);
    for c in csv.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => count += 1,
            '\n' if !quoted => cells.push(std::mem::replace(&mut count, 1)),
            _ => {}
        }
    }
    assert!(!quoted && cells.iter().all(|count| *count == cells[0]), "rows of {cells:?} cells");
}

/// No element, attribute or address in the page comes from the data.
fn markup(html: &str) {
    let input = BufferQueue::default();
    input.push_back(html.into());
    let tokenizer = Tokenizer::new(Judge::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    assert!(tokenizer.sink.elements.get() > 20, "a page without elements");
}

#[derive(Default)]
struct Judge {
    elements: Cell<usize>,
}

impl TokenSink for Judge {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => {
                self.elements.set(self.elements.get() + 1);
                look(&tag);
                if tag.kind == TagKind::StartTag && &*tag.name == "style" {
                    return TokenSinkResult::RawData(RawKind::Rawtext);
                }
                if tag.kind == TagKind::StartTag && &*tag.name == "title" && tag.attrs.is_empty() {
                    return TokenSinkResult::RawData(RawKind::Rcdata);
                }
            }
            Token::CommentToken(text) => assert!(!text.contains(MARK), "a comment: {text}"),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

fn look(tag: &Tag) {
    const ELEMENTS: [&str; 13] = [
        "script",
        "link",
        "img",
        "image",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "input",
        "template",
        "foreignobject",
        "animate",
    ];
    let name = &*tag.name;
    assert!(!ELEMENTS.contains(&name) && !name.contains(MARK), "an element {name}");
    for attribute in &tag.attrs {
        let key = &*attribute.name.local;
        let loads = matches!(key, "src" | "srcdoc" | "action" | "formaction" | "background");
        assert!(!key.starts_with("on") && !loads && !key.contains(MARK), "{key} of {name}");
        if key == "href" || key == "xlink:href" {
            assert!(attribute.value.starts_with('#'), "{name} leads to {}", attribute.value);
        }
        if key == "style" {
            assert!(!attribute.value.contains(MARK) && !attribute.value.contains("url("));
        }
    }
}
