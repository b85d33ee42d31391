//! Nothing of a plan, a result or an answer is missing in its page.

use super::*;

#[test]
fn every_key_field_and_answer_has_its_place() {
    let [(_, _, plan), (_, _, result), (_, _, verdicts)] = all();
    let plain = |page: &str| page.replace("\\-", "-");
    assert!(plain(&plan).contains("[[measure]]"), "{plan}");
    let schema: Value = serde_json::from_str(RESULT).unwrap();
    for name in schema["properties"].as_object().unwrap().keys() {
        assert!(plain(&result).contains(name.as_str()), "{name}");
    }
    assert!(!result.contains("(any)") && !result.contains("list of any"), "{result}");
    for answer in ["worse", "better", "same", "can't tell", "no verdict"] {
        assert!(plain(&verdicts).replace("\\*(Aq", "'").contains(answer), "{answer}");
    }
}
