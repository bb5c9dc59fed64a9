import { type Html, html } from '../../html.ts'

const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

const utcOf = (at: string): string => `${day.format(new Date(at))}, ${clock.format(new Date(at))} UTC`

/**
 * A time in UTC, which the script shows in the reader's time zone; the title keeps UTC.
 * @param form what the script writes: the whole moment, its day, or its time of day
 */
const local = (at: string, form: 'moment' | 'day' | 'clock' | 'hour', text: string): Html =>
  html`<time datetime=${at} title=${utcOf(at)} data-local=${form}>${text}</time>`

/** `21 Nov 2026, 09:30 UTC` */
export const moment = (at: string): Html => local(at, 'moment', utcOf(at))

/** `09:30 UTC`, for a day that is shown elsewhere. */
export const clockOf = (at: string): Html => local(at, 'clock', `${clock.format(new Date(at))} UTC`)

/** `21 Nov 2026` */
export const dayOf = (at: string): Html => local(at, 'day', day.format(new Date(at)))

/** `21 Nov 2026`: a whole day in UTC, which is no moment and so the same for every reader. */
export const utcDayOf = (at: string): Html =>
  html`<time datetime=${at.slice(0, 10)}>${day.format(new Date(at))}</time>`

/** `21 Nov, 09:00 UTC` */
export const hourOf = (at: string): Html => local(at, 'hour', `${hour.format(new Date(at))} UTC`)

const hour = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/** A day or an hour in UTC, in plain text: `21 Nov 2026`, `21 Nov, 09:00 UTC`. */
export const whenWords = (at: string, by: 'day' | 'hour'): string =>
  by === 'day' ? day.format(new Date(at)) : `${hour.format(new Date(at))} UTC`

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** `3 minutes ago`, `in 2 days`; after a month the date. */
export function ago(at: string, now: Date): Html {
  if (Math.abs(Date.parse(at) - now.getTime()) > 30 * 86_400_000) return dayOf(at)
  return html`<time datetime=${at} title=${utcOf(at)}>${agoWords(at, now)}</time>`
}

/** `3 minutes ago` within a sentence, for any age. */
export function agoWords(at: string, now: Date): string {
  const passed = Date.parse(at) - now.getTime()
  const [unit, length] = units.find(([, ms]) => Math.abs(passed) >= ms) ?? ['now', 1]
  return unit === 'now' ? 'just now' : relative.format(Math.trunc(passed / length), unit)
}

/** As {@link agoWords}, to the second during the first minute: `3 seconds ago`. */
export function ageWords(ageMs: number): string {
  const seconds = Math.floor(ageMs / 1000)
  if (seconds >= 1 && seconds < 60) return relative.format(-seconds, 'second')
  return agoWords(new Date(-ageMs).toISOString(), new Date(0))
}

/** `until 15:40 UTC, in 23 hours`: a moment of the next day or so. */
export const until = (at: string, now: Date): Html =>
  html`<span>until ${clockOf(at)}, ${inWords(at, now)}</span>`

/** `in 23 hours`, rounded down, so that it never promises more time than is left. */
const inWords = (at: string, now: Date): string =>
  Date.parse(at) - now.getTime() < 60_000 ? 'in less than a minute' : agoWords(at, now)

/** `9 min 34 s`: the remaining time. */
export function timeLeft(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`
}
