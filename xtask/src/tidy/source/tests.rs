//! The scanner on what could fool it.

use super::*;

fn code(text: &str) -> String {
    Source::new("crates/x/src/lib.rs", text).code
}

#[test]
fn comments_and_literals_become_blanks_of_the_same_shape() {
    assert_eq!(code("a /* b /* c */ d */ e // f\ng"), "a                   e     \ng");
    assert_eq!(code(r#"f("unsafe \" {", 'x', '\'', '"')"#), r#"f("           ",    ,     ,    )"#);
    assert_eq!(code("r#\"a \" b\"# + b\"c\""), "r#\"     \"# + b\" \"");
    assert_eq!(code("'a: loop { x::<'b>() }"), "'a: loop { x::<'b>() }");
    assert_eq!(code("\"a\nb\" c"), "\" \n \" c");
    assert_eq!(code("'\\u{e9}' 'é'"), " ".repeat(12));
}

#[test]
fn unterminated_text_ends_the_scan_and_no_more() {
    for text in ["\"abc", "/* abc", "r#\"abc", "'", "b'", "'\\", "r#", "é\"é"] {
        assert_eq!(code(text).chars().count(), text.chars().count(), "{text}");
    }
}

#[test]
fn strings_and_comments_know_their_lines() {
    let source = Source::new("x.rs", "//! one\nlet a = \"two\";\n/* three\n*/ let b = r\"four\";");
    assert_eq!(source.strings, [(2, "two".to_owned()), (4, "four".to_owned())]);
    assert_eq!(source.comments, [(1, "//! one".to_owned()), (3, "/* three\n*/".to_owned())]);
}

#[test]
fn functions_are_found_with_their_ends() {
    let text = "pub fn a<F: Fn() -> [u8; 2]>(f: F)\nwhere\n    F: X,\n{\n    fn b() {\n    }\n}\n\
                trait T {\n    fn c(&self) -> [u8; 4];\n}\ntype G = fn(u8);\n";
    let found: Vec<_> = Source::new("x.rs", text)
        .functions()
        .into_iter()
        .map(|f| (f.name, f.first, f.last))
        .collect();
    assert_eq!(found, [("a".into(), 1, 7), ("b".into(), 5, 6), ("c".into(), 9, 9)]);
}

#[test]
fn lines_of_tests_are_known() {
    let text = "fn a() {}\n#[cfg(test)]\nextern crate std;\n#[cfg(not(test))]\nfn b() {}\n\
                #[cfg(all(test, unix))]\nmod tests {\n    fn c() {}\n}\nfn d() {}\n\
                #[cfg(any(unix, test))]\nfn e() {}\n";
    let source = Source::new("crates/x/src/lib.rs", text);
    let tests: Vec<usize> = (1..=12).filter(|n| source.is_test(*n)).collect();
    assert_eq!(tests, [2, 3, 6, 7, 8, 9]);
}

#[test]
fn files_of_tests_are_known_by_their_place() {
    let all_tests = |path| Source::new(path, "fn a() {}\n").is_test(1);
    assert!(all_tests("crates/x/tests/sim/main.rs"));
    assert!(all_tests("crates/x/src/plan/tests.rs"));
    assert!(all_tests("crates/x/benches/echo.rs"));
    assert!(!all_tests("crates/x/src/attests.rs"));
    assert!(!all_tests("crates/x/src/lib.rs"));
}
