//! Runs the example that executes a wave.

use std::path::PathBuf;
use std::process::Command;

#[test]
fn execute_wave() {
    let own = std::env::current_exe().expect("the test has a path");
    let folder: PathBuf = own.ancestors().nth(2).expect("deps is in the profile's folder").join("examples");
    let program = folder.join("execute_wave").with_extension(std::env::consts::EXE_EXTENSION);
    let output = Command::new(&program).output().expect("the example is built and starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    // In lane 0 no byte of source 1 counts; in lane n the difference is 10 - n.
    let expected = "2 instructions executed\nlane 0: v0 = 100\nlane 1: v0 = 109\nlane 2: v0 = 108\nlane 3: v0 = 107\n\
        lane 4: v0 = 0\n";
    assert_eq!(text, expected);
}
