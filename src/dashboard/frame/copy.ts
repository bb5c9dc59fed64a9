import { type Content, type Html, html } from '../../html.ts'

/**
 * A value with a button that copies it, which needs JavaScript.
 * @param what what is copied, as the button's name says it: `license ID`
 * @param value a text; it is copied as it is shown
 */
export const copyable = (what: string, value: string): Html =>
  html`<span class="copyable"><code>${value}</code>${copyButton(what)}</span>`

/** A block of code with a button that copies it. */
export const copyableBlock = (what: string, code: Content): Html => html`<div class="copyable copyable-block">
  <pre tabindex="0">${code}</pre>
  ${copyButton(what)}
</div>`

/** Copies the field or the code within the closest `copyable`. The page shows it only when the script can copy. */
export const copyButton = (what: string, className = 'copy'): Html =>
  html`<button type="button" class=${className} data-copy aria-label=${`Copy ${what}`}>Copy</button>`
