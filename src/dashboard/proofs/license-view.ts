import type { LicenseHistoryEntry } from '../../history/entries.ts'
import { type Content, type Html, html } from '../../html.ts'
import { whyWithheld } from '../../notary/withheld.ts'
import { moment } from '../frame/moments.ts'
import { badge, heading, notice, table } from '../frame/parts.ts'
import type { EventProof } from './log-route.ts'

type Proofs = {
  license: { licenseId: string; displayKey: string }
  events: readonly {
    entry: LicenseHistoryEntry
    /** Its receipt would tell the hash of a key that can be guessed from it. */
    isWithheld: boolean
    proof: EventProof
  }[]
  /** The event after which the next page begins. */
  older: number | undefined
}

export function licenseProofsView({ license: { licenseId, displayKey }, events, older }: Proofs): Html {
  const path = `/dashboard/licenses/${licenseId}`
  return html`<div>
    ${heading(
      'Proofs',
      html`Each event of <a href=${path}>${displayKey}</a> is in a log whose state is signed about once a second. A receipt proves it
        to anyone who has the <a href="/dashboard/system/proof">public key</a>, without this server.`,
    )}
    ${events.some(({ isWithheld }) => isWithheld) && notice('info', `An event without a receipt: ${whyWithheld}.`)}
    <div class="sheeted">
      ${table({
        caption: 'The events of the license, newest first, and the checkpoint that covers each',
        columns: [
          { label: 'Event', number: true },
          { label: 'What happened' },
          { label: 'Time', wide: true },
          { label: 'Proof' },
          { label: 'Receipt' },
        ],
        rows: events.map(({ entry: { sequence, summary, time }, isWithheld, proof }) => [
          html`<a href=${`${path}?upTo=${String(sequence)}#event-${String(sequence)}`}>${String(sequence)}</a>`,
          summary,
          moment(time),
          proofWords(proof),
          isWithheld
            ? 'Withheld'
            : proof.state === 'proved' &&
              html`<a href=${`${path}/receipts/${String(sequence)}`} download aria-label=${`Download the receipt of event ${String(sequence)}`}>Download</a>`,
        ]),
      })}
    </div>
    ${
      older !== undefined &&
      html`<nav class="pager" aria-label="Pages"><a href=${`${path}/proofs?upTo=${String(older - 1)}`} rel="next">Older</a></nav>`
    }
  </div>`
}

/** "proved in checkpoint 1,234 at 12:03" */
export function proofWords(proof: EventProof): Content {
  if (proof.state === 'unknown') return badge('warn', 'unknown: the event store does not respond')
  if (proof.state === 'waiting') return badge('warn', 'not yet in a checkpoint')
  return html`Proved in checkpoint ${proof.in.size.toLocaleString('en')}, signed ${moment(proof.in.signedAt)}`
}
