//! Plays a story of the vectors: from an empty storage, the state after each step.

use serde_json::Value;

use super::plain::picked;
use super::signed::{device_in, keys_in, place_in};
use super::vectors::Compared;
use super::{list, record, text};
use crate::facts::known::{Asked, HeldLicense, Known, OfflineFacts};
use crate::facts::state_of::{state_of, Circumstances};
use crate::facts::take::{self, Age, Taken};
use crate::facts::{known_text, known_text::text_of};
use crate::place::Place;
use crate::signed::device::Machine;
use crate::signed::Doubt;
use crate::state_json;
use crate::text::json::{object, Members, Record};

struct Story<'a> {
    all: &'a Record,
    story: &'a Record,
    place: Place,
    device: Option<Machine>,
    known: Known,
}

pub(super) fn check(all: &Record, story: &Record) -> Compared {
    let known = Known::new("install".into(), keys_in(all));
    let mut told = Story { all, story, place: place_in(all), device: device_in(story.get("device")), known };
    let steps = list(&story["steps"]);
    let found: Vec<Value> = steps.iter().map(|step| told.happens(record(step))).collect();
    let expected: Vec<Value> = steps.iter().map(|step| picked(record(step), ["as", "state"])).collect();
    (found.into(), expected.into())
}

impl Story<'_> {
    fn happens(&mut self, step: &Record) -> Value {
        let at = step.seconds("at").unwrap();
        let before = self.known.clone();
        let taken = self.taken(step, at);
        if let Some(Err(_)) = taken {
            self.known = before;
        }
        self.known.notice(at);
        let around = Circumstances {
            failing: step.flag("failing") == Some(true),
            device: self.device.as_ref(),
            built_at: self.story.seconds("builtAt"),
            default_trial_days: self.story.seconds("defaultTrialDays"),
        };
        let state = state_of(Some(&self.known), at, around);
        let name = |taken: Taken| match taken {
            Ok(Age::Fresh) => "fresh",
            Ok(Age::Same) => "same",
            Ok(Age::Stale) => "stale",
            Err(doubt) => Doubt::name(doubt),
        };
        object([("as", taken.map(|taken| name(taken).into())), ("state", Some(state_json::of(&state).into()))]).into()
    }

    fn taken(&mut self, step: &Record, at: i64) -> Option<Taken> {
        let (answer, known, place) = (step.get("answer"), &mut self.known, &self.place);
        let told = |name: &str| step.text(name).unwrap_or_else(|| text(&self.all[name]));
        let (key, instance) = (told("licenseKey"), told("instanceId"));
        match text(&step["step"]) {
            "wait" => {}
            "restart" => *known = known_text::read(&text_of(known), place, &keys_in(self.all)).unwrap(),
            "take_proof" => {
                let asked = HeldLicense { key: key.into(), instance_id: instance.into(), ..HeldLicense::default() };
                return Some(take::proof(known, answer, &asked, place, at));
            }
            "take_settings" => {
                let enforce = self.story.flag("enforceSettings") == Some(true);
                return Some(take::settings(known, answer, place, at, enforce));
            }
            "start_trial" => take::begin_trial(known, at),
            "take_trial" => take::trial(known, answer),
            "take_not_covered" => take::build_not_covered(known, answer),
            "ask_for_file" => {
                let asked = Asked::new(text(&step["nonce"]).into(), key);
                offline_of(known, self.all).asked = Some(asked);
            }
            "take_file" => {
                offline_of(known, self.all);
                return Some(take::carried(known, text(&step["token"]), place, self.device.as_ref(), at));
            }
            "leave" => take::leave(known, instance),
            "give_seat_back" => take::seat_back(known),
            step => panic!("the step {step} is not known"),
        }
        None
    }
}

fn offline_of<'a>(known: &'a mut Known, all: &Record) -> &'a mut OfflineFacts {
    known.offline.get_or_insert_with(|| OfflineFacts::new(text(&all["seed"]).into()))
}
