import type { ShownEffect } from '../../gate/effects/shown.ts'
import { type Content, type Html, html } from '../../html.ts'
import { notice, sentenceList } from '../frame/parts.ts'

/**
 * What a waiting request would change now, and whether that is what it would have changed when it was made.
 * @param isMarked whether the page already says that something has changed
 */
export function effectPart({ refusal, sentences, sinceAsked }: ShownEffect, isMarked: boolean): Content {
  if (refusal !== null) return null
  return html`<section class="effect" aria-labelledby="effect">
    <h3 id="effect">What changes</h3>
    ${sentences.length === 0 ? html`<p>Nothing: everything is already as requested.</p>` : sentenceList(sentences)}
    ${comparison(sinceAsked, isMarked)}
  </section>`
}

function comparison(sinceAsked: ShownEffect['sinceAsked'], isMarked: boolean): Content {
  if (!sinceAsked) return null
  const { before, now } = sinceAsked
  if (before.length === 0 && now.length === 0)
    return isMarked ? null : html`<p class="hint">The same now as when it was requested.</p>`
  return [
    !isMarked && notice('warn', 'What changes is different from when it was requested.'),
    before.length > 0
      ? difference('When it was requested, it would have changed', before)
      : difference('New since it was requested', now),
  ]
}

const difference = (title: string, sentences: readonly string[]): Html =>
  html`<p class="difference">${title}:</p>${sentenceList(sentences)}`
