//! Pages as a browser's parser reads them: nothing in them is from the data but text.

use super::parsed::{Element, parse};

/// The first thing in a page that did not come from this program, if there is one.
pub fn foreign(html: &str) -> Option<String> {
    let page = parse(html);
    let comment = page.comments.iter().find(|text| text.contains("evil"));
    let element = page.elements.iter().find(|element| is_foreign(element));
    let told = |element: &Element| format!("<{} {:?}>", element.name, element.attributes);
    element.map(told).or_else(|| comment.map(|text| format!("<!--{text}-->")))
}

fn is_foreign(Element { name, attributes }: &Element) -> bool {
    let value = |wanted: &str| attributes.get(wanted).map_or("", String::as_str);
    let script = name == "script" && value("type") != "application/json";
    let foreign = |(name, value): (&String, &String)| {
        let value = value.trim_start().to_ascii_lowercase();
        name.starts_with("on") || name.contains("evil") || value.starts_with("javascript:")
    };
    let loads = ["src", "srcset", "action", "formaction", "data"].map(value);
    let outside = |to: &str| !to.is_empty() && !to.starts_with("data:");
    let evil = name.contains("evil") || value("id") == "evil";
    script || evil || attributes.iter().any(foreign) || loads.into_iter().any(outside)
}

/// Asserts that it finds what a browser would do.
pub fn finds_what_it_must() {
    for wrong in [
        "<script>x</script>",
        "<p onclick=x>",
        "<a href=\" JavaScript:x\">",
        "<img src=//x>",
        "<p id=evil>",
        "<!--evil-->",
        "<body><body onload=x>",
    ] {
        assert!(foreign(wrong).is_some(), "{wrong}");
    }
    assert_eq!(foreign("<script type=application/json>{}</script>&lt;script&gt; evil"), None);
}
