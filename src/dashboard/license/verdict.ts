import { entitlementsWritten } from '../../domain/products/written-values.ts'
import { type Content, type Html, html } from '../../html.ts'
import { sentence } from '../../sentence.ts'
import type { Explanation } from '../../verdicts/explain.ts'
import { moment } from '../frame/moments.ts'

type Verdict = Explanation['activate']

export type VerdictQuestion = {
  explanation: Explanation
  /** Undefined for the present. */
  asOf: string | undefined
  /** The URL of this license at the same moment, for a device or none. */
  addressOf: (deviceId: string | undefined) => string
  /** The URL of an event in the history. */
  eventAddress: (sequence: number) => string
}

/** What validate and activate would return at the moment, why, and because of which events. */
export function verdictView(about: VerdictQuestion): Html {
  const { explanation, asOf } = about
  const { validate, activate, deviceId } = explanation
  return html`<div class="verdicts">
    ${answer(about, {
      question: question('validate', deviceId, asOf),
      verdict: validate,
      more:
        validate.entitlements.length > 0 &&
        html`<span class="sub">Grants ${entitlementsWritten(validate.entitlements, validate.entitlement_values ?? {}).join(', ')}.</span>`,
    })}
    ${answer(about, { question: question('activate', deviceId, asOf), verdict: activate, more: null })}
  </div>`
}

function question(what: 'validate' | 'activate', deviceId: string | null, asOf: string | undefined): string {
  const verb = asOf === undefined ? 'Would' : 'Would it have'
  if (what === 'validate') {
    const done = asOf === undefined ? 'it validate now' : 'validated then'
    return `${verb} ${done}${deviceId === null ? '' : ` on ${deviceId}`}?`
  }
  const who = deviceId ?? 'another device'
  return asOf === undefined ? `Could ${who} be activated now?` : `Could ${who} have been activated then?`
}

type Answer = { question: string; verdict: Verdict; more: Content }

function answer({ eventAddress }: VerdictQuestion, { question: asks, verdict, more }: Answer): Html {
  const { succeeds, status, httpStatus, because, events } = verdict
  return html`<section class=${succeeds ? 'verdict good' : 'verdict bad'}>
    <h2>${asks}</h2>
    <p class="verdict-word">${succeeds ? 'Yes' : 'No'} <code>${status ?? httpStatus}</code></p>
    <p>${sentence(because)}</p>
    ${more}
    ${
      events.length > 0 &&
      html`<ul class="deciding" aria-label="Deciding events">
        ${events.map(
          ({ sequence, time, summary }) =>
            html`<li><a href=${eventAddress(sequence)}>${summary}</a> <span class="sub">${moment(time)}</span></li>`,
        )}
      </ul>`
    }
  </section>`
}
