//! Code blocks of the guide, README and CONTRIBUTING: a test runs the block, or each command in it is
//! resolved. A block of neither kind is a fault.

use super::commands::Commands;
use crate::files;

/// Tests that run the programs of docs/guide/examples and the blocks of README.
const TESTS: [&str; 8] = [
    "tests/cli/guide.rs",
    "crates/capi/tests/abi/guide.rs",
    "crates/capi/tests/abi/watches.rs",
    "crates/client/tests/guide.rs",
    "crates/object-store/tests/guide.rs",
    "python/tests/test_readmes.py",
    "python/tests/test_watch.py",
    "python/tests/test_deep_img2dataset.py",
];

/// A code block with its language and the line where it begins; "" is a block that is indented.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    pub language: String,
    pub line: usize,
    pub text: String,
}

/// Returns the faults of all blocks of a page.
pub fn faults(page: &str, text: &str, commands: &Commands) -> Vec<String> {
    let judge = |block: &Block| fault(page, block, commands).err().map(|fault| (block.line, fault));
    let found = blocks(text).iter().filter_map(judge).collect::<Vec<_>>();
    found.into_iter().map(|(line, fault)| format!("{page}:{line}: {fault}")).collect()
}

/// Returns the blocks of a page: between fences, or indented by four spaces after an empty line.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut fenced, mut after_empty, mut indented) = (false, true, false);
    for (at, line) in text.lines().enumerate() {
        let begin = |language: &str| Block { language: language.into(), line: at + 1, text: String::new() };
        if let Some(language) = line.strip_prefix("```") {
            fenced = !fenced;
            if fenced {
                found.push(begin(language.split(',').next().unwrap_or_default()));
            }
        } else if fenced {
            append(&mut found, line);
        } else if line.starts_with("    ") && (after_empty || indented) {
            if !indented {
                found.push(begin(""));
            }
            indented = true;
            append(&mut found, line.trim_start());
        } else if !line.is_empty() {
            indented = false;
        }
        after_empty = line.is_empty();
    }
    found
}

fn append(found: &mut [Block], line: &str) {
    let block = found.last_mut().expect("a block has begun");
    block.text.push_str(line);
    block.text.push('\n');
}

fn fault(page: &str, block: &Block, commands: &Commands) -> Result<(), String> {
    let text = block.text.trim();
    if let Some(name) = text.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) {
        let file = name.rsplit('/').next().unwrap_or_default();
        let is_run = TESTS.iter().any(|test| files::text(test).contains(file));
        return if is_run { Ok(()) } else { Err(format!("no test runs {file}")) };
    }
    match block.language.as_str() {
        "" | "sh" => text.lines().try_for_each(|line| commands.resolve(line)),
        "text" => match text.lines().find(|line| commands.is_command(line)) {
            Some(line) => Err(format!("a command in a block marked text: {line}")),
            None => Ok(()),
        },
        // test_readmes.py runs each block of these pages.
        "python" if page == "README.md" => Ok(()),
        language => {
            let tests: String = TESTS.iter().map(|test| files::text(test)).collect();
            match text.lines().find(|line| !tests.contains(line.trim())) {
                Some(line) => Err(format!("no test compiles this {language}: {line}")),
                None => Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        faults("page.md", text, &Commands::of("### `-o, --output <file>`\n"))
    }

    #[test]
    fn blocks_are_fenced_or_indented() {
        let text = "a\n\n    make x\n    make y\n\nb\n```sh\nmake z\n```\n- item\n  more\n";
        let block =
            |language: &str, line, text: &str| Block { language: language.into(), line, text: text.into() };
        assert_eq!(blocks(text), [block("", 3, "make x\nmake y\n"), block("sh", 7, "make z\n")]);
    }

    #[test]
    fn a_block_that_nothing_checks_is_a_fault() {
        for (text, fault) in [
            ("```sh\nmake demo\n```\n", ""),
            ("```sh\nmake nothing\n```\n", "page.md:1: Makefile has no target nothing"),
            ("```sh\nfrobnicate x\n```\n", "page.md:1: frobnicate is not known: frobnicate x"),
            ("```text\nmake demo\n```\n", "page.md:1: a command in a block marked text: make demo"),
            ("```text\na ──► b\n```\n", ""),
            ("```rust\nlet x = nobody_compiles();\n```\n", "page.md:1: no test compiles this rust: "),
            ("```sh\n{{#include ../examples/none.sh}}\n```\n", "page.md:1: no test runs none.sh"),
            ("\n    warmwire --none x\n", "page.md:2: the tool has no flag --none"),
        ] {
            let found = found(text).join("\n");
            assert!(found.starts_with(fault) && found.is_empty() == fault.is_empty(), "{text}: {found}");
        }
    }
}
