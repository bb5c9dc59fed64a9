import {
  amountOf,
  amountText,
  amountWords,
  drawn,
  greatest,
  notNegative,
} from '../../domain/meters/amount.ts'
import { keptIn } from '../../domain/meters/view.ts'
import { plainText } from '../../domain/plain-text.ts'
import { dayIn, formsOf } from '../../domain/portal/languages.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { StandingMeter } from '../../usage/standing-meters.ts'
import type { Visit } from '../visit.ts'
import type { LicenseDetails, ShownMeter } from './shown.ts'
import { facts } from './view.ts'

/** What was used of a license, what is left, and until when that lasts. Nothing for a license that is not metered. */
export const metersPart = (visit: Visit, { meters }: LicenseDetails): Content =>
  meters.length > 0 &&
  html`<h2>${visit.say('usageTitle')}</h2>
    ${meters.map((meter) => html`<div class="sheet stack">${standing(visit, meter)} ${plot(visit, meter)}</div>`)}`

/** How a meter stands now. */
export function standing({ say, language }: Visit, meter: StandingMeter): Html {
  const words = (text: string) => amountWords(text, formsOf(language))
  const unit = plainText(meter.unit)
  const held = keptIn(meter)
  const spent = amountOf(meter.used) - amountOf(meter.overage)
  const all = spent + amountOf(meter.remaining) + held
  const percent = all === 0n ? 100 : Number((spent * 1000n) / all) / 10
  const used = say('usageUsed', { used: words(meter.used), all: words(amountText(all)), unit })
  return html`<p><strong>${used}</strong>${meter.customerId !== null && html` <span class="soft">${say('usageShared')}</span>`}</p>
    <progress max="100" value=${percent} aria-label=${used}></progress>
    ${facts([
      [say('usageLeftLabel'), say('usageAmount', { amount: words(meter.remaining), unit })],
      meter.overage !== '0' && [
        say('usageBeyondLabel'),
        say('usageAmount', { amount: words(meter.overage), unit }),
      ],
      held > 0n && [say('usageHeldLabel'), say('usageAmount', { amount: words(amountText(held)), unit })],
      meter.resetsAt !== null && [say('usageResetsLabel'), dayIn(language, meter.resetsAt)],
      meter.forecast !== null && [say('usageForecastLabel'), forecastWords({ say, language }, meter)],
      meter.credits.length > 0 && [
        say('usageCreditsLabel'),
        html`<ul>
          ${meter.credits.map(
            ({ left, endsAt }) =>
              html`<li>${
                endsAt === null
                  ? say('usageAmount', { amount: words(left), unit })
                  : say('usageCredit', { amount: words(left), unit, date: dayIn(language, endsAt) })
              }</li>`,
          )}
        </ul>`,
      ],
    ])}`
}

function forecastWords(
  { say, language }: Pick<Visit, 'say' | 'language'>,
  { forecast }: Pick<StandingMeter, 'forecast'>,
): string {
  const usedUpAt = forecast?.usedUpAt ?? null
  return usedUpAt === null ? say('usageLasts') : say('usageUsedUp', { date: dayIn(language, usedUpAt) })
}

const height = 100

/** One bar for each of the last days; nothing when none was used in them. */
function plot({ say, language }: Visit, { days, unit }: ShownMeter): Content {
  const most = greatest(days.map(({ used }) => used))
  if (most === 0n) return null
  const words = (amount: bigint) => amountWords(amountText(amount), formsOf(language))
  const label = say('usagePlot', { unit: plainText(unit), days: days.length, most: words(most) })
  return html`<figure>
    <svg class="days" viewBox=${`0 0 ${days.length * 10} ${height}`} preserveAspectRatio="none" role="img" aria-label=${label}>
      ${days.map(({ at, used }, index) => {
        const high = (drawn(notNegative(used)) / drawn(most)) * height
        return html`<g><title>${`${dayIn(language, at)}: ${words(used)}`}</title><rect x=${index * 10 + 1} y=${height - high} width="8" height=${high} /></g>`
      })}
    </svg>
    <figcaption class="soft">${label}</figcaption>
  </figure>`
}
