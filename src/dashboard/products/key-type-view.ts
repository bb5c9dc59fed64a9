import { type Content, type Html, html } from '../../html.ts'
import { type FilledForm, typedIn } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { facts, heading, notice, section, sentenceList, tokenField } from '../frame/parts.ts'
import {
  idField,
  keyTypeInputs,
  moreFields,
  moreKeyTypeInputs,
  termInputs,
  termNames,
} from './key-type-fields.ts'

type Place = { token: string; product: { productId: string; name: string } }

const pathOf = ({ productId }: Place['product']): string => `/dashboard/products/${productId}`

const nameField = (form: FilledForm): Html =>
  textField(form, { name: 'keyTypeName', label: 'Name', hint: 'For example Pro or Team.', maxlength: 200 })

export function newKeyTypeView({ token, product }: Place, operation: string, form: FilledForm): Html {
  return html`<div class="narrow">
    ${heading('New key type', `A kind of license for ${product.name}.`)}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${pathOf(product)}/key-types`}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      ${nameField(form)}
      ${termInputs(form)}
      ${moreFields(
        form,
        ['keyTypeName', ...termNames],
        html`<div class="stack">
          ${idField(form, 'keyTypeId', 'keyTypeName', 'Key type ID', 'It cannot be changed later.')}
          ${moreKeyTypeInputs(form)}
        </div>`,
      )}
      <div class="decide">
        <button>Create key type</button>
        <a class="button second" href=${pathOf(product)}>Cancel</a>
      </div>
    </form>
  </div>`
}

type OneKeyType = Place & {
  keyTypeId: string
  /** How many of its licenses are not revoked and have not expired. */
  live: number
}

export function editKeyTypeView(
  { token, product, keyTypeId, live, mayDelete }: OneKeyType & { mayDelete: boolean },
  form: FilledForm,
): Html {
  const path = `${pathOf(product)}/key-types/${keyTypeId}`
  return html`<div class="narrow">
    ${heading('Edit key type', html`<code>${keyTypeId}</code> of ${product.name}`)}
    ${formProblem(form)}
    ${
      live > 0 &&
      notice(
        'info',
        `${licensesOf(live)} this key type. Their entitlements change with it. They keep their device limit and expiry. You see what changes before it is saved.`,
      )
    }
    <form class="sheet stack" method="post" action=${`${path}/edit`}>
      ${tokenField(token)}
      <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
      ${nameField(form)} ${keyTypeInputs(form)}
      <div class="decide">
        <button>Save</button>
        <a class="button second" href=${pathOf(product)}>Cancel</a>
      </div>
    </form>
    ${mayDelete && deletionSection(token, `${path}/delete`, live)}
  </div>`
}

const deletionSection = (token: string, action: string, live: number): Content =>
  section(
    'Deletion',
    live > 0
      ? html`<p class="lead">A key type with live licenses cannot be deleted.</p>`
      : html`<form method="post" action=${action}>
          ${tokenField(token)}
          <button class="dangerous">Request deletion</button>
        </form>`,
    'Ended licenses keep its entitlements. An owner or an approver decides.',
  )

const licensesOf = (live: number): string =>
  live === 1 ? '1 live license has' : `${live.toLocaleString('en')} live licenses have`

/** What an edit changes for licenses that are there, before it is saved. */
export function reviewView(
  { token, product, keyTypeId, live }: OneKeyType,
  form: FilledForm,
  sentences: readonly string[],
): Html {
  const path = `${pathOf(product)}/key-types/${keyTypeId}`
  const typed = Object.entries(form.typed).filter(([name]) => name !== 'reviewed')
  return html`<div class="narrow">
    ${heading('Save this key type?', html`<code>${keyTypeId}</code> of ${product.name}`)}
    <form class="sheet stack" method="post" action=${`${path}/edit`}>
      ${tokenField(token)}
      ${typed.flatMap(([name, values]) =>
        values.map((value) => html`<input type="hidden" name=${name} value=${value} />`),
      )}
      ${facts([['Live licenses', live.toLocaleString('en')]])}
      ${sentenceList(sentences)}
      <div class="decide">
        <button name="reviewed" value="yes">Save</button>
        <button class="second" name="reviewed" value="back">Back to the form</button>
        <a class="button second" href=${pathOf(product)}>Cancel</a>
      </div>
    </form>
  </div>`
}
