mod fixtures;
#[test]
fn show() {
    use v6gap_report::text::*;
    for s in [Style::default(), Style{width:60,..Style::default()}, Style{width:40,..Style::default()}, Style{glyphs:Glyphs::Ascii,..Style::default()}, Style{plain:true,..Style::default()}] {
        println!("{}\n========", table(&fixtures::lab(), &s));
    }
    println!("{}\n========", table(&fixtures::invalid(), &Style::default()));
    println!("{}\n========", table(&fixtures::null_run(), &Style::default()));
    println!("{}\n========", verbose(&fixtures::lab(), &fixtures::journal::lines(), &Style::default()));
    println!("{}", v6gap_report::markdown(&fixtures::lab()));
    println!("{}", v6gap_report::csv_trials(&fixtures::journal::lines()));
    println!("{}", v6gap_report::json(&fixtures::lab()));
}
