//! Pages as a browser's parser reads them: nothing in them is from the data but text.

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ParseOpts, QualName, parse_document};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The first thing in a page that did not come from this program, if there is one.
pub fn foreign(html: &str) -> Option<String> {
    parse_document(Told::default(), ParseOpts::default()).one(html).wrong.into_inner()
}

/// What the parser tells.
#[derive(Debug, Default)]
struct Told {
    next: Cell<usize>,
    names: RefCell<BTreeMap<usize, &'static QualName>>,
    wrong: RefCell<Option<String>>,
}

impl Told {
    fn node(&self) -> usize {
        // The document is 0; the content of a template is the number after its own.
        self.next.set(self.next.get() + 2);
        self.next.get()
    }

    fn judge(&self, name: &str, attributes: &[Attribute]) {
        let value = |wanted: &str| {
            let found = attributes.iter().find(|a| &*a.name.local == wanted);
            found.map(|a| a.value.to_string()).unwrap_or_default()
        };
        let script = name == "script" && value("type") != "application/json";
        let foreign = |a: &Attribute| {
            let (name, value) = (&*a.name.local, a.value.trim_start().to_ascii_lowercase());
            name.starts_with("on") || name.contains("evil") || value.starts_with("javascript:")
        };
        let loads = ["src", "srcset", "action", "formaction", "data"].map(value);
        let outside = |to: &String| !to.is_empty() && !to.starts_with("data:");
        let evil = name.contains("evil") || value("id") == "evil";
        if script || evil || attributes.iter().any(foreign) || loads.iter().any(outside) {
            let told = attributes.iter().map(|a| format!(" {}={:?}", a.name.local, &*a.value));
            let told: String = told.collect();
            self.wrong.borrow_mut().get_or_insert(format!("<{name}{told}>"));
        }
    }
}

impl TreeSink for Told {
    type Handle = usize;
    type Output = Self;
    type ElemName<'a> = html5ever::ExpandedName<'a>;

    fn finish(self) -> Self {
        self
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
        self.judge(&name.local, &given);
        // The parser asks for names by reference; a test may keep them for ever.
        self.names.borrow_mut().insert(node, Box::leak(Box::new(name)));
        node
    }

    fn create_comment(&self, text: StrTendril) -> usize {
        if text.contains("evil") {
            self.wrong.borrow_mut().get_or_insert(format!("<!--{text}-->"));
        }
        self.node()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> usize {
        self.node()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn append(&self, _: &usize, _: NodeOrText<usize>) {}
    fn append_before_sibling(&self, _: &usize, _: NodeOrText<usize>) {}
    fn append_based_on_parent_node(&self, _: &usize, _: &usize, _: NodeOrText<usize>) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn add_attrs_if_missing(&self, _: &usize, given: Vec<Attribute>) {
        self.judge("html or body", &given);
    }
    fn remove_from_parent(&self, _: &usize) {}
    fn reparent_children(&self, _: &usize, _: &usize) {}
}
