//! Programs of the system.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const MOST: Duration = Duration::from_secs(10);

/// What a program prints, without a shell; none when it fails or takes longer than ten seconds. What it prints has to fit into a pipe.
pub(super) fn printed_by(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    // Some versions of PowerShell wait for the end of their input.
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    without_window(&mut command);
    let mut running = command.spawn().ok()?;
    let start = Instant::now();
    let status = loop {
        match running.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < MOST => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                // It may have ended by itself since.
                let _ = running.kill();
                let _ = running.wait();
                return None;
            }
        }
    };
    let mut printed = Vec::new();
    running.stdout.take()?.read_to_end(&mut printed).ok()?;
    status.success().then(|| String::from_utf8_lossy(&printed).into_owned())
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
}
