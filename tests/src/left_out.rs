//! Reports of tests that do nothing because a program is missing.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;

/// Reports what a test leaves out, and the remedy. If `PENNON_LEFT_OUT` names a file, appends a line to it, because
/// nobody reads the output of a test that passes.
pub fn leave_out(what: &str) {
    eprintln!("left out: {what}");
    if let Some(file) = env::var_os("PENNON_LEFT_OUT") {
        let file = OpenOptions::new().append(true).open(file);
        // Tests run at the same time, and each line is one write.
        let written = file.and_then(|mut file| file.write_all(format!("{what}\n").as_bytes()));
        written.expect("the report is written");
    }
}
