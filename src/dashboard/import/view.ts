import type { PresentProduct } from '../../../projections/products/queries.ts'
import { columns } from '../../domain/licenses/import-rows.ts'
import { type Content, type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem } from '../forms/form-fields.ts'
import { empty, facts, heading, notice, section, table, tokenField } from '../frame/parts.ts'

const path = '/dashboard/import-licenses'

/** Why a row is not imported. */
export type Problem = { line: number; text: string }

/** How far an import has come, and what is left of it. */
export type Step = {
  token: string
  product: PresentProduct
  total: number
  imported?: number
  duplicates: number
  /** How many rows are not importable; the list may be shorter. */
  refused: number
  problems: readonly Problem[]
  /** What is left, with the numbers of the lines. */
  rows: readonly (readonly [line: number, row: unknown])[]
}

const count = (rows: number): string => rows.toLocaleString('en')

/** The form that a file is chosen in. */
export function importFormView(token: string, products: readonly PresentProduct[], form: FilledForm): Html {
  const error = form.problems.file
  if (products.length === 0)
    return html`<div>
      ${heading('Import licenses')} ${empty('No products yet', 'Licenses are imported into a product. Create it first.')}
    </div>`
  return html`<div class="narrow" id="import">
    ${heading('Import licenses', 'Licenses of another system keep their keys. You see a preview before anything is imported.')}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${path} enctype="multipart/form-data">
      ${tokenField(token)}
      ${choiceField(form, {
        name: 'product',
        label: 'Product',
        choices: products.map(({ productId, name }) => [productId, name] as const),
      })}
      <div class="field">
        <label for="file">File</label>
        <p class="hint" id="file-hint">
          CSV with a header line, or JSON lines; at most 4 MiB. Only <code>licenseKey</code> is needed.
        </p>
        <input
          id="file"
          name="file"
          type="file"
          required
          accept=".csv,.ndjson,.jsonl,.json,text/csv"
          aria-describedby=${error ? 'file-hint file-error' : 'file-hint'}
          aria-invalid=${error ? 'true' : undefined}
        />
        ${error && html`<p class="error" id="file-error">${error}</p>`}
      </div>
      <div class="decide">
        <button>Check file</button>
        <a class="button second" href="/dashboard/licenses">Cancel</a>
      </div>
    </form>
    ${section(
      'Columns',
      html`<p class="tags">${[...columns, 'metadata.…'].map((name) => html`<code class="badge plain">${name}</code>`)}</p>`,
      'Write times as a day, such as 2027-11-21, or in ISO 8601; an expiry may be “never”. Separate several devices with spaces.',
    )}
  </div>`
}

const figures = ({ total, duplicates, refused }: Step, fresh: readonly [label: string, rows: number]): Html =>
  html`<div class="sheet">
    ${facts([
      ['Rows', count(total)],
      [fresh[0], count(fresh[1])],
      ['Already in keyledger', count(duplicates)],
      ['Not importable', count(refused)],
    ])}
  </div>`

const maxShown = 200

/** As many as are handed on from step to step; more of them would exceed what a form may hold. */
const maxKept = 2000

const problemList = ({ problems, refused }: Step): Content =>
  problems.length > 0 &&
  section(
    'Not importable',
    html`<div class="sheeted">
      ${table({
        caption: 'Rows that are not imported',
        columns: [{ label: 'Line', number: true }, { label: 'Reason' }],
        rows: problems.slice(0, maxShown).map(({ line, text }) => [line, text]),
      })}
    </div>`,
    refused > maxShown && `The first ${maxShown} of ${count(refused)}.`,
  )

/** What the next step needs. The browser keeps the rows that are left. */
const stepFields = ({
  token,
  product,
  total,
  imported = 0,
  duplicates,
  refused,
  problems,
  rows,
}: Step): Html => html`<div hidden>
  ${tokenField(token)}
  <input type="hidden" name="product" value=${product.productId} />
  <input type="hidden" name="total" value=${total} />
  <input type="hidden" name="imported" value=${imported} />
  <input type="hidden" name="duplicates" value=${duplicates} />
  <input type="hidden" name="refused" value=${refused} />
  <input type="hidden" name="problems" value=${JSON.stringify(problems.slice(0, maxKept))} />
  <input type="hidden" name="rows" value=${JSON.stringify(rows)} />
</div>`

/** What would be imported. Nothing is yet. */
export function previewView(step: Step): Html {
  const { product, rows } = step
  return html`<div class="narrow" id="import">
    ${heading('Import licenses', `Into ${product.name}. Nothing has been imported yet.`)}
    ${figures(step, ['New licenses', rows.length])}
    <form class="after" method="post" action=${`${path}/run`} enctype="multipart/form-data">
      ${stepFields(step)}
      <div class="decide">
        ${rows.length > 0 && html`<button>Import ${counted(rows.length, 'license', 'licenses')}</button>`}
        <a class="button second" href=${`${path}?product=${product.productId}`}>Choose another file</a>
      </div>
    </form>
    ${problemList(step)}
  </div>`
}

/** How far it has come. With JavaScript the next step begins by itself. */
export function progressView(step: Step): Html {
  const { total, rows, imported = 0 } = step
  const done = total - rows.length
  return html`<div class="narrow" id="import">
    ${heading('Importing licenses', `${count(done)} of ${count(total)} rows processed. Keep this page open.`)}
    <progress class="import-progress" max=${total} value=${done} aria-label="Rows processed"></progress>
    ${figures(step, ['Imported', imported])}
    <form
      class="after"
      method="post"
      action=${`${path}/run`}
      enctype="multipart/form-data"
      hx-post=${`${path}/run`}
      hx-encoding="multipart/form-data"
      hx-trigger="load, submit"
      hx-target="#import"
      hx-select="#import"
      hx-swap="outerHTML"
    >
      ${stepFields(step)}
      <div class="decide">
        <button>Continue</button>
        <a class="button second" href="/dashboard/licenses">Stop</a>
      </div>
      <p class="hint">Imported licenses stay. To continue later, send the same file again: nothing is imported twice.</p>
    </form>
  </div>`
}

/** @param stopped why it ended early */
export function resultView(step: Step, stopped: string | undefined): Html {
  const { imported = 0, product } = step
  return html`<div class="narrow" id="import">
    ${heading(stopped === undefined ? 'Import finished' : 'Import stopped', `Into ${product.name}.`)}
    ${stopped !== undefined && notice('wrong', stopped)}
    ${figures(step, ['Imported', imported])}
    <p class="after decide">
      <a class="button" href=${`/dashboard/licenses?product=${product.productId}`}>View licenses</a>
      <a class="button second" href=${`${path}?product=${product.productId}`}>Import another file</a>
    </p>
    ${problemList(step)}
  </div>`
}
