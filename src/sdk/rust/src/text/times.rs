//! Times as they are signed and sent: Unix seconds inside.

use super::trim;

/// A day in milliseconds: the longest pause that a server may ask for.
const DAY_MS: i64 = 86_400_000;

/// The seconds of a time in RFC 3339, in UTC and whole seconds; none for any other text.
pub(crate) fn seconds_of(text: &str) -> Option<i64> {
    const FORM: &[u8] = b"dddd-dd-ddTdd:dd:ddZ";
    let bytes = text.as_bytes();
    let fits = |(form, byte): (&u8, &u8)| if *form == b'd' { byte.is_ascii_digit() } else { form == byte };
    if bytes.len() != FORM.len() || !FORM.iter().zip(bytes).all(fits) {
        return None;
    }
    // They are digits, which always fit.
    let part = |from: usize, to: usize| text[from..to].parse::<i64>().unwrap_or_default();
    let (month, day, hour, minute, second) = (part(5, 7), part(8, 10), part(11, 13), part(14, 16), part(17, 19));
    // As in JavaScript: any month has 31 days, and a day ends with 24:00:00.
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_time = minute <= 59 && second <= 59 && (hour < 24 || (hour == 24 && minute + second == 0));
    (is_date && is_time).then(|| unix(part(0, 4), month, day) + hour * 3600 + minute * 60 + second)
}

/// The time in RFC 3339, as JavaScript prints it; years beyond 9999 are cut off.
pub(crate) fn iso(seconds: i64) -> String {
    let seconds = seconds.clamp(-62_167_219_200, 253_402_300_799);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z")
}

/// Reads Retry-After: seconds or a date. Milliseconds from now, at most a day; none when it is neither.
pub(crate) fn retry_after_ms(header: &str, now_ms: i64) -> Option<i64> {
    let text = trim(header);
    let is_number = (1..10).contains(&text.len()) && text.bytes().all(|one| one.is_ascii_digit());
    let ms = if is_number {
        text.parse::<i64>().ok()? * 1000
    } else {
        http_date(text)?.saturating_mul(1000).saturating_sub(now_ms)
    };
    Some(ms.clamp(0, DAY_MS))
}

/// The seconds of a date of HTTP in one of its three forms.
fn http_date(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split([' ', ',', '-']).filter(|part| !part.is_empty()).collect();
    let (day, month, year, time) = match parts[..] {
        [_, day, month, year, time, "GMT"] => (day, month, year, time),
        [_, month, day, time, year] => (day, month, year, time),
        _ => return None,
    };
    let number = |text: &str, most: i64| text.parse::<i64>().ok().filter(|number| (0..=most).contains(number));
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year = match (number(year, 9999)?, year.len()) {
        (short, 2) => short + if short < 50 { 2000 } else { 1900 },
        (long, _) => long,
    };
    let clock: Vec<i64> = time.split(':').map(|part| number(part, 59)).collect::<Option<_>>()?;
    match clock[..] {
        [hour @ 0..=23, minute, second] => {
            Some(unix(year, month, number(day, 31)?.max(1)) + hour * 3600 + minute * 60 + second)
        }
        _ => None,
    }
}

/// The seconds of a day's beginning, also in the year 0.
fn unix(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468) * 86_400
}

/// Year, month and day of so many days after the first of 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_http_in_all_forms() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(retry_after_ms(text, 784_111_777_000 - 5000), Some(5000), "{text}");
        }
        for text in ["", "-1", "1.5", "tomorrow", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT"] {
            assert_eq!(retry_after_ms(text, 0), None, "{text}");
        }
    }

    #[test]
    fn a_printed_time_is_read_as_the_same() {
        for seconds in [-62_167_219_200, -1, 0, 951_782_400, 1_793_530_000, 253_402_300_799] {
            assert_eq!(seconds_of(&iso(seconds).replace(".000", "")), Some(seconds));
        }
    }
}
