//! When to validate next.

use std::sync::Mutex;
use std::time::Duration;

use super::server::jitter;
use crate::locks::lock;
use crate::options::Options;
use crate::problem::{Problem, ProblemCode};
use crate::state::State;
use crate::text::bytes::random_fraction;

const YEAR_MS: f64 = 365.0 * 86_400_000.0;

#[derive(Default)]
pub(crate) struct Schedule {
    next: Mutex<(Duration, u32)>,
}

impl Schedule {
    /// How long it is until then; nothing at the start and when it is overdue.
    pub(crate) fn left(&self, options: &Options) -> Duration {
        lock(&self.next).0.saturating_sub(options.clock.elapsed())
    }

    /// Notes what a validate has led to.
    pub(crate) fn note(&self, options: &Options, problem: Option<&Problem>, state: &State) {
        let left = state.grant().map(|grant| (grant.until - options.now()) as f64 * 1000.0);
        let (due, failures) = &mut *lock(&self.next);
        let wait = match problem {
            // The server that does not cover the build will not cover it in a minute.
            Some(problem) if problem.code != ProblemCode::BuildNotCovered => {
                let wait = pause_after(problem, *failures, left, random_fraction());
                *failures = failures.saturating_add(1);
                wait
            }
            _ => {
                *failures = 0;
                pause(options.refresh_every, left, random_fraction())
            }
        };
        *due = options.clock.elapsed() + Duration::from_millis(wait.min(YEAR_MS) as u64);
    }
}

fn pause(every: Duration, left_ms: Option<f64>, random: f64) -> f64 {
    let every = every.as_secs_f64() * 1000.0;
    let wait = left_ms.map_or(every, |left| every.min(left / 2.0));
    wait.max(30_000.0) * (0.9 + 0.2 * random)
}

fn pause_after(problem: &Problem, failures: u32, left_ms: Option<f64>, random: f64) -> f64 {
    let retry_after = problem.retry_after.map_or(0.0, |pause| pause.as_secs_f64() * 1000.0);
    // Who waits for a floating seat comes back when the next one ends.
    if problem.code == ProblemCode::SeatLimitReached && retry_after > 0.0 {
        return retry_after * (1.0 + 0.2 * random);
    }
    // A lease that is nearly over, as one of a floating seat soon is, gets some more attempts before its end.
    let most = left_ms.map_or(f64::INFINITY, |left| (left / 4.0).max(5000.0));
    retry_after + most.min(1000.0 + jitter(failures, 60_000.0, 3_600_000.0, random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_an_hour_and_keep_what_the_server_asks_for() {
        let problem = Problem::new(ProblemCode::Offline, "no answer");
        assert_eq!(pause_after(&problem, 0, None, 0.0), 1000.0);
        assert_eq!(pause_after(&problem, 60, None, 1.0), 3_601_000.0);
        assert_eq!(pause_after(&problem, 60, Some(40_000.0), 1.0), 10_000.0);
        let full = Problem {
            retry_after: Some(Duration::from_secs(90)),
            ..Problem::new(ProblemCode::SeatLimitReached, "full")
        };
        assert_eq!(pause_after(&full, 5, None, 0.0), 90_000.0);
    }

    #[test]
    fn a_lease_that_ends_sooner_is_renewed_at_half_of_its_time() {
        let every = Duration::from_secs(43_200);
        assert_eq!(pause(every, None, 0.5), 43_200_000.0);
        assert_eq!(pause(every, Some(7_200_000.0), 0.5), 3_600_000.0);
        assert_eq!(pause(every, Some(1000.0), 0.5), 30_000.0);
    }
}
