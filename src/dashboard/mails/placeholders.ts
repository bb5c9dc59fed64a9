import { type Html, html } from '../../html.ts'
import { table } from '../frame/parts.ts'

/** What may stand in the texts of a mail. @param placeholders what each stands for, by its name */
export const placeholderTable = (
  placeholders: Readonly<Record<string, string>>,
): Html => html`<div class="sheeted">
  ${table({
    caption: 'Placeholders',
    columns: [{ label: 'Placeholder, and what it stands for' }],
    rows: Object.entries(placeholders).map(([name, meaning]) => [
      html`<span><code>{{${name}}}</code><span class="sub">${meaning}</span></span>`,
    ]),
  })}
</div>`
