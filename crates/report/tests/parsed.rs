//! A page as a browser's parser reads it.

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tokenizer::TokenizerOpts;
use html5ever::{Attribute, ParseOpts, QualName, parse_document};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// An element without its content.
#[derive(Debug, Clone)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
}

impl Element {
    fn of(name: &str, given: &[Attribute]) -> Self {
        let attributes = given.iter().map(|a| (a.name.local.to_string(), a.value.to_string()));
        Element { name: name.to_owned(), attributes: attributes.collect() }
    }
}

/// A page, each in the order in which it was read.
#[derive(Debug, Default)]
pub struct Page {
    pub elements: Vec<Element>,
    pub comments: Vec<String>,
    pub errors: Vec<String>,
    /// Whether it is none of today.
    pub quirks: bool,
}

/// The page that a browser makes of that text.
pub fn parse(html: &str) -> Page {
    let tokenizer = TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() };
    let options = ParseOpts { tokenizer, ..ParseOpts::default() };
    parse_document(Told::default(), options).one(html)
}

/// What the parser tells.
#[derive(Debug, Default)]
struct Told {
    next: Cell<usize>,
    names: RefCell<BTreeMap<usize, &'static QualName>>,
    page: RefCell<Page>,
}

impl Told {
    fn node(&self) -> usize {
        // The document is 0; the content of a template is the number after its own.
        self.next.set(self.next.get() + 2);
        self.next.get()
    }
}

impl TreeSink for Told {
    type Handle = usize;
    type Output = Page;
    type ElemName<'a> = html5ever::ExpandedName<'a>;

    fn finish(self) -> Page {
        self.page.into_inner()
    }

    fn get_document(&self) -> usize {
        0
    }

    fn get_template_contents(&self, target: &usize) -> usize {
        target + 1
    }

    fn same_node(&self, x: &usize, y: &usize) -> bool {
        x == y
    }

    fn elem_name(&self, target: &usize) -> html5ever::ExpandedName<'_> {
        self.names.borrow()[target].expanded()
    }

    fn create_element(&self, name: QualName, given: Vec<Attribute>, _: ElementFlags) -> usize {
        let node = self.node();
        self.page.borrow_mut().elements.push(Element::of(&name.local, &given));
        // The parser asks for names by reference; a test may keep them for ever.
        self.names.borrow_mut().insert(node, Box::leak(Box::new(name)));
        node
    }

    fn create_comment(&self, text: StrTendril) -> usize {
        self.page.borrow_mut().comments.push(text.to_string());
        self.node()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.node()
    }

    fn parse_error(&self, what: Cow<'static, str>) {
        self.page.borrow_mut().errors.push(what.into_owned());
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.page.borrow_mut().quirks = mode != QuirksMode::NoQuirks;
    }

    fn append(&self, _: &usize, _: NodeOrText<usize>) {}
    fn append_before_sibling(&self, _: &usize, _: NodeOrText<usize>) {}
    fn append_based_on_parent_node(&self, _: &usize, _: &usize, _: NodeOrText<usize>) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn add_attrs_if_missing(&self, _: &usize, given: Vec<Attribute>) {
        self.page.borrow_mut().elements.push(Element::of("html or body, again", &given));
    }
    fn remove_from_parent(&self, _: &usize) {}
    fn reparent_children(&self, _: &usize, _: &usize) {}
}
