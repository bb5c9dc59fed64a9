import type { ListedMember } from '../../../projections/members.ts'
import type { ResellerEntry } from '../../../projections/resellers.ts'
import type { ListedToken } from '../../../projections/tokens/list.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { Person } from '../../vault/subjects.ts'
import { customerColumns } from '../customers/view.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textArea, textField } from '../forms/form-fields.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  copyable,
  empty,
  field,
  heading,
  pager,
  secretBox,
  section,
  sentenceList,
  table,
  tokenField,
} from '../frame/parts.ts'
import { type NamedQuota, quotaTable, type SeenCustomer } from '../reseller/view.ts'

const path = '/dashboard/resellers'
const newReseller = html`<a class="button" href="/dashboard/new-reseller">New reseller</a>`

type Resellers = { entries: readonly ResellerEntry[]; cursor: string | undefined; next: string | null }

export function resellersView(view: View, { entries, cursor, next }: Resellers): Html {
  const mayManage = view.may('manage_settings')
  const what = 'Who sells your licenses to customers of their own, within quotas.'
  return html`<div>
    ${heading('Resellers', what, mayManage && newReseller)}
    ${
      entries.length === 0
        ? empty(
            'No resellers yet',
            'A reseller mints licenses for customers of their own and sees nothing else.',
            mayManage && newReseller,
          )
        : html`<div class="sheeted">
            ${table({
              caption: 'Resellers',
              columns: [
                { label: 'Reseller' },
                { label: 'Used', number: true },
                { label: 'Quota', number: true },
                { label: 'Created', wide: true },
              ],
              rows: entries.map(({ reseller }): Content[] => [
                html`<span
                  ><a href=${`${path}/${reseller.resellerId}`}>${reseller.name}</a> ${closedBadge(reseller)}</span
                >`,
                sum(reseller.quotas.map(({ used }) => used)),
                sum(reseller.quotas.map(({ licenses }) => licenses)),
                ago(reseller.createdAt, view.now),
              ]),
            })}
          </div>`
    }
    ${pager(path, { cursor }, next)}
  </div>`
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const closedBadge = ({ status }: ResellerEntry['reseller']): Content =>
  status === 'closed' && badge('warn', 'closed')

type OneReseller = {
  entry: ResellerEntry
  quotas: readonly NamedQuota[]
  customers: readonly SeenCustomer[]
  members: readonly { member: ListedMember; person: Person }[]
  tokens: readonly ListedToken[]
}

export function resellerView(view: View, { entry, quotas, customers, members, tokens }: OneReseller): Html {
  const { reseller } = entry
  const at = `${path}/${reseller.resellerId}`
  const isOpen = reseller.status === 'open'
  const link = (href: string, text: string) => html`<p><a class="button second" href=${href}>${text}</a></p>`
  const mayManage = isOpen && view.may('manage_settings')
  const edit = mayManage && html`<a class="button" href=${`${at}/edit`}>Edit reseller</a>`
  return html`<div>
    ${heading(html`${reseller.name} ${closedBadge(reseller)}`, copyable('reseller ID', reseller.resellerId), edit)}
    ${section('Quotas', quotas.length === 0 ? html`<p class="lead">No quotas.</p>` : quotaTable(quotas), 'Revoked and refunded licenses stay used.')}
    ${section('Customers', customerTable(view, customers), 'The newest customers that the reseller created.')}
    ${section(
      'Members',
      html`${memberList(view, members)}
      ${isOpen && view.may('manage_members') && link(`${at}/members/new`, 'Add member')}`,
      'People of the reseller, who sign in to this dashboard and see only what is theirs.',
    )}
    ${section(
      'API tokens',
      html`${tokenList(tokens)}
      ${isOpen && view.may('manage_tokens') && link(`${at}/tokens/new`, 'New API token')}`,
      'Tokens of the reseller, for their own programs.',
    )}
    ${
      isOpen &&
      view.may('manage_members') &&
      section(
        'Closing',
        html`<p><a class="button dangerous" href=${`${at}/close`}>Close reseller</a></p>`,
        'Their tokens and members reach nothing any more. Their customers and licenses stay. This cannot be undone.',
      )
    }
  </div>`
}

const customerTable = (view: View, customers: readonly SeenCustomer[]): Html =>
  customers.length === 0
    ? html`<p class="lead">No customers yet.</p>`
    : html`<div class="sheeted">
        ${table({
          caption: 'Customers',
          columns: customerColumns,
          rows: customers.map(({ customer, licenseIds, person }): Content[] => [
            html`<a href=${`/dashboard/customers/${customer.customerId}`}>${person.email ?? customer.customerId}</a>`,
            licenseIds.length,
            ago(customer.createdAt, view.now),
          ]),
        })}
      </div>`

const memberList = (view: View, members: OneReseller['members']): Html =>
  members.length === 0
    ? html`<p class="lead">No members.</p>`
    : html`<ul class="sentences">
        ${members.map(
          ({ member: { memberId }, person }) =>
            html`<li>${view.may('manage_members') ? html`<a href=${`/dashboard/members/${memberId}`}>${person.email ?? memberId}</a>` : (person.email ?? memberId)}</li>`,
        )}
      </ul>`

const tokenList = (tokens: readonly ListedToken[]): Html =>
  tokens.length === 0
    ? html`<p class="lead">No active API tokens.</p>`
    : html`<ul class="sentences">
        ${tokens.map(
          ({ token: { tokenId, name } }) =>
            html`<li><a href=${`/dashboard/tokens/${tokenId}`}>${name}</a></li>`,
        )}
      </ul>`

type ResellerForm = { token: string; operation: string; form: FilledForm; resellerId?: string }

export function resellerFormView({ token, operation, form, resellerId }: ResellerForm): Html {
  const isNew = resellerId === undefined
  const back = isNew ? path : `${path}/${resellerId}`
  return html`<div class="narrow">
    ${heading(isNew ? 'New reseller' : 'Edit reseller')}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${isNew ? '/dashboard/new-reseller' : `${back}/edit`}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      ${textField(form, { name: 'name', label: 'Name', maxlength: 200 })}
      ${textArea(form, {
        name: 'quotas',
        label: 'Quotas',
        hint: html`One in each line, as product ID/key type ID and how many licenses in all: <code>editor/default: 50</code>`,
        required: false,
      })}
      <div class="decide">
        <button>${isNew ? 'Create reseller' : 'Save'}</button>
        <a class="button second" href=${back}>Cancel</a>
      </div>
    </form>
  </div>`
}

type SmallForm = { token: string; entry: ResellerEntry; problem?: string | undefined; value: string }

export const newMemberView = ({ token, entry, value, problem }: SmallForm): Html =>
  smallForm(entry, {
    title: 'New member',
    lead: 'You get a one-time link to pass on. The member uses it to set up how they sign in.',
    action: 'members',
    button: 'Add and create link',
    content: html`${tokenField(token)}
      ${field({ name: 'email', label: 'Email', type: 'email', value, error: problem, maxlength: 320 })}`,
  })

export const newTokenView = ({
  token,
  entry,
  value,
  problem,
  tokenId,
}: SmallForm & { tokenId: string }): Html =>
  smallForm(entry, {
    title: 'New API token',
    lead: "It mints within the reseller's quotas, and sees only their customers and licenses.",
    action: 'tokens',
    button: 'Create token',
    content: html`${tokenField(token)} <input type="hidden" name="tokenId" value=${tokenId} />
      ${field({ name: 'name', label: 'Name', value, error: problem, maxlength: 200 })}`,
  })

function smallForm(
  { reseller: { resellerId } }: ResellerEntry,
  form: { title: string; lead: string; action: string; button: string; content: Html },
): Html {
  const at = `${path}/${resellerId}`
  return html`<div class="narrow">
    ${heading(form.title, form.lead)}
    <form class="sheet stack" method="post" action=${`${at}/${form.action}`}>
      ${form.content}
      <div class="decide">
        <button>${form.button}</button>
        <a class="button second" href=${at}>Cancel</a>
      </div>
    </form>
  </div>`
}

type Once = { title: string; label: string; secret: string; resellerId: string; until: string | undefined }

/** A link or a token, which no other page shows. */
export const shownOnceView = ({ title, label, secret, resellerId, until }: Once): Html =>
  html`<div class="narrow">
    ${heading(title, 'Copy it now and share it through a private channel. It is shown only once.')}
    <div class="sheet stack">
      ${secretBox(label, secret)}
      ${until !== undefined && html`<p class="lead">It works once, until ${moment(until)}.</p>`}
      <p><a class="button second" href=${`${path}/${resellerId}`}>I have copied it</a></p>
    </div>
  </div>`

export const closeView = (token: string, { reseller }: ResellerEntry, sentences: readonly string[]): Html =>
  html`<div class="narrow">
    ${heading(`Close “${reseller.name}”`, 'This cannot be undone.')}
    <form class="sheet stack" method="post" action=${`${path}/${reseller.resellerId}/close`}>
      ${tokenField(token)} ${sentenceList(sentences)}
      <div class="decide">
        <button class="dangerous">Close reseller</button>
        <a class="button second" href=${`${path}/${reseller.resellerId}`}>Cancel</a>
      </div>
    </form>
  </div>`
