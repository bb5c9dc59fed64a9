import { type Content, type Html, html } from '../../html.ts'

/** Required in every form that changes anything. */
export const tokenField = (token: string): Html => html`<input type="hidden" name="_csrf" value=${token} />`

/** The head of a page: its title, one sentence about it, and its actions. */
export function heading(title: Content, lead?: Content, actions?: Content): Html {
  return html`<div class="head">
    <div>
      <h1>${title}</h1>
      ${lead && html`<p class="lead">${lead}</p>`}
    </div>
    ${actions && html`<div class="actions">${actions}</div>`}
  </div>`
}

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

export const badge = (tone: Tone, text: string): Html => html`<span class=${`badge ${tone}`}>${text}</span>`

export function notice(kind: 'done' | 'wrong' | 'warn' | 'info', text: Content): Html {
  return html`<div class=${`notice ${kind}`} role=${kind === 'wrong' ? 'alert' : 'status'}>
    <p>${text}</p>
  </div>`
}

type Column = {
  label: string
  /** Hidden on phones, where the row links to a page that shows it. */
  wide?: boolean
  /** Right-aligned. */
  number?: boolean
}

type Table = {
  /** Describes the table to screen readers. */
  caption: string
  columns: readonly Column[]
  rows: readonly (readonly Content[])[]
}

/** On phones each row is a card: the first cell is its title, and the others stand beside the names of their columns. */
export function table({ caption, columns, rows }: Table): Html {
  const className = ({ wide, number }: Column) =>
    [wide && 'wide', number && 'number'].filter(Boolean).join(' ') || undefined
  return html`<table>
    <caption class="unseen">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col" class=${className(column)}>${column.label}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells) => html`<tr>
          ${cells.map(
            (cell, index) =>
              html`<td class=${columns[index] && className(columns[index])} data-label=${columns[index]?.label}>
                <div>${cell}</div>
              </td>`,
          )}
        </tr>`,
      )}
    </tbody>
  </table>`
}

/** Shown instead of an empty list: the reason, and what to do next. */
export function empty(title: string, text: Content, action?: Content): Html {
  return html`<div class="empty">
    <h2>${title}</h2>
    <p>${text}</p>
    ${action}
  </div>`
}

/** A label and its value. */
type Fact = readonly [name: string, value: Content]

/** @param pairs undefined and false ones are left out */
export function facts(pairs: readonly (Fact | undefined | false)[]): Html {
  return html`<dl class="facts">
    ${pairs
      .filter((pair) => pair !== undefined && pair !== false)
      .map(
        ([name, value]) => html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`,
      )}
  </dl>`
}

/** What a request or an edit changes. */
export const sentenceList = (sentences: readonly Content[]): Html =>
  html`<ul class="sentences">
    ${sentences.map((text) => html`<li>${text}</li>`)}
  </ul>`

export function section(title: string, content: Content, lead?: Content): Html {
  return html`<section class="part">
    <h2>${title}</h2>
    ${lead && html`<p class="lead">${lead}</p>`} ${content}
  </section>`
}

type Field = {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'url'
  value?: string | undefined
  hint?: Content
  error?: string | undefined
  autocomplete?: string
  required?: boolean
  inputmode?: 'numeric' | 'text'
  maxlength?: number
  autofocus?: boolean
  className?: string
}

/** A labelled input, with its hint and its error. */
export function field({ name, label, type = 'text', value, hint, error, className, ...rest }: Field): Html {
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ')
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
    <input
      id=${name}
      name=${name}
      type=${type}
      value=${value}
      class=${className}
      required=${rest.required ?? true}
      autocomplete=${rest.autocomplete ?? 'off'}
      inputmode=${rest.inputmode}
      maxlength=${rest.maxlength}
      autofocus=${rest.autofocus ?? false}
      aria-describedby=${described || undefined}
      aria-invalid=${error ? 'true' : undefined}
    />
    ${error && html`<p class="error" id=${`${name}-error`}>${error}</p>`}
  </div>`
}

type Choice = { value: string; label: string; selected?: boolean }

export function select(name: string, label: string, choices: readonly Choice[], hint?: Content): Html {
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
    <select id=${name} name=${name} aria-describedby=${hint ? `${name}-hint` : undefined}>
      ${choices.map(
        ({ value, label: text, selected }) =>
          html`<option value=${value} selected=${selected ?? false}>${text}</option>`,
      )}
    </select>
  </div>`
}

/** The options of a filter: all, or one of the values, each with its label. */
export const choicesOf = (
  all: string,
  values: readonly (readonly [value: string, label: string])[],
  chosen: string | undefined,
): Choice[] => [
  { value: '', label: all },
  ...values.map(([value, label]) => ({ value, label, selected: value === chosen })),
]

/** Options whose labels are their values. */
export const asNamed = (values: readonly string[]) => values.map((value) => [value, value] as const)

export function productSelect(
  products: readonly { productId: string; name: string }[],
  chosen: string | undefined,
): Html {
  const named = products.map(({ productId, name }) => [productId, name] as const)
  return select('product', 'Product', choicesOf('All products', named, chosen))
}

/** The filters of a list. The choice is part of the URL, and is applied immediately with JavaScript. */
export function filters(path: string, listId: string, fields: readonly Content[]): Html {
  return html`<form
    class="filters"
    method="get"
    action=${path}
    hx-get=${path}
    hx-trigger="change"
    hx-target=${`#${listId}`}
    hx-select=${`#${listId}`}
    hx-swap="outerHTML"
    hx-push-url="true"
  >
    ${fields}
    <button class="second">Show</button>
  </form>`
}

/** A secret that is shown once, with a button to copy it. */
export function secretBox(label: string, secret: string): Html {
  return html`<div class="secret">
    <label for="secret">${label}</label>
    <div class="secret-row copyable">
      <input id="secret" class="mono" type="text" readonly value=${secret} autocomplete="off" spellcheck=${false} />
      ${copyButton(label.toLowerCase(), 'second')}
    </div>
  </div>`
}

/** Links to the first and the next page of a list. */
export function pager(path: string, query: Record<string, string | undefined>, next: string | null): Content {
  const at = (cursor: string | undefined) => {
    const given = Object.entries({ ...query, cursor }).filter(
      ([, value]) => value !== undefined && value !== '',
    )
    const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, value ?? '']))
    return search.size === 0 ? path : `${path}?${search}`
  }
  if (next === null && query.cursor === undefined) return null
  return html`<nav class="pager" aria-label="Pages">
    ${query.cursor !== undefined && html`<a href=${at(undefined)}>Back to newest</a>`}
    ${next !== null && html`<a href=${at(next)} rel="next">Older</a>`}
  </nav>`
}

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
const copyButton = (what: string, className = 'copy'): Html =>
  html`<button type="button" class=${className} data-copy aria-label=${`Copy ${what}`}>Copy</button>`
