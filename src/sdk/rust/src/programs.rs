//! Programs of the system.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MOST: Duration = Duration::from_secs(10);

/// What a program has led to. What it prints has to fit into a pipe.
pub(crate) struct Ran {
    pub(crate) is_success: bool,
    pub(crate) printed: String,
    /// What it has printed as an error.
    pub(crate) complaint: String,
}

/// Runs a program without a shell, with a text as its input.
pub(crate) fn run(program: &str, arguments: &[&str], input: &str, most: Duration) -> io::Result<Ran> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    without_window(&mut command);
    let mut running = command.spawn()?;
    if let Some(mut stdin) = running.stdin.take() {
        // A program that has ended without reading it says why. Some versions of PowerShell wait for the end of their input.
        let _ = stdin.write_all(input.as_bytes());
    }
    let is_success = waited(&mut running, most)?;
    let printed = all_of(running.stdout.take())?;
    Ok(Ran { is_success, printed, complaint: all_of(running.stderr.take())? })
}

/// What a program prints; none when it fails or takes longer than ten seconds.
pub(crate) fn printed_by(program: &str, arguments: &[&str]) -> Option<String> {
    let ran = run(program, arguments, "", MOST).ok()?;
    ran.is_success.then_some(ran.printed)
}

/// Where Windows has a program of its own.
pub(crate) fn in_system32(program: &str) -> String {
    let folder = std::env::var("SystemRoot").unwrap_or_else(|_| r"C:\Windows".to_owned());
    format!(r"{folder}\System32\{program}")
}

/// Whether it was successful.
fn waited(running: &mut Child, most: Duration) -> io::Result<bool> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = running.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() >= most {
            // It may have ended by itself since.
            let _ = running.kill();
            let _ = running.wait();
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn all_of(stream: Option<impl Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(windows)]
fn without_window(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NO_WINDOW);
}

#[cfg(not(windows))]
fn without_window(_: &mut Command) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_none() {
        assert_eq!(printed_by("/bin/echo", &["one"]).as_deref(), Some("one\n"));
        assert_eq!(printed_by("/bin/false", &[]), None);
        assert_eq!(printed_by("/nowhere/program", &[]), None);
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let ran = run("/bin/sleep", &["60"], "", Duration::from_millis(50));
        assert_eq!(ran.err().map(|error| error.kind()), Some(io::ErrorKind::TimedOut));
    }

    #[test]
    fn a_program_gets_its_input_and_its_complaint_is_kept() {
        let ran = run("/bin/cat", &["-", "/nowhere/file"], "one", MOST).unwrap();
        assert!(!ran.is_success && ran.printed == "one" && ran.complaint.contains("/nowhere/file"));
    }
}
