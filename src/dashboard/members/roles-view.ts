import { type Right, Role, roleSummary, scopesOf } from '../../domain/members/roles.ts'
import { combinableScopes, type Scope } from '../../domain/tokens/events.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { pagesFor } from '../frame/navigation.ts'
import type { View } from '../frame/page.ts'
import { copyable, heading, section, table, tokenField } from '../frame/parts.ts'
import { scopeBoxes, scopeSummary } from '../tokens/fields.ts'
import type { Roles } from './role-names.ts'

export const rolesPath = '/dashboard/members/roles'

/** All roles of a workspace: those that it made, which can be changed, and those that are built in. */
export function rolesView(roles: Roles, isFull: boolean): Html {
  const add = !isFull && html`<a class="button" href=${`${rolesPath}/new`}>New role</a>`
  return html`<div>
    ${heading('Roles', 'What members may do.', add)}
    ${section(
      'Custom roles',
      roles.length === 0
        ? html`<p class="lead">No custom roles yet.</p>`
        : html`<div class="sheeted">
            ${table({
              caption: 'Custom roles',
              columns: [{ label: 'Role' }, { label: 'Scopes' }],
              rows: roles.map(({ roleId, name, scopes }): Content[] => [
                html`<a href=${`${rolesPath}/${roleId}`}>${name}</a>`,
                scopeSummary(scopes),
              ]),
            })}
          </div>`,
    )}
    ${section(
      'Built-in roles',
      html`<div class="sheeted">
        ${table({
          caption: 'Built-in roles',
          columns: [{ label: 'Role' }, { label: 'What it allows' }],
          rows: Role.options.map((role): Content[] => [role, roleSummary(role)]),
        })}
      </div>`,
    )}
  </div>`
}

/** What a permission of the dashboard lets a member do. */
const doing: Partial<Record<Right, string>> = {
  view_as_customer: 'Open the portal as a customer sees it',
  ask_for_changes: 'Request dangerous changes of licenses',
  change_licenses: 'Change licenses and customers',
  manage_products: 'Change products, key types and mails',
  delete_key_types: 'Request the deletion of key types',
  replay_sales: 'Issue the licenses of parked sales',
  manage_connections: 'Change payment providers, webhooks, the SDK key and the checkout key',
}

/** What each right needs, in the order in which members meet it: first the pages, then what can be done there. */
const rightsByScopes = (): Html =>
  html`<div class="sheeted">
    ${table({
      caption: 'Scopes in the dashboard',
      columns: [{ label: 'In the dashboard' }, { label: 'Needs the scopes' }],
      rows: [
        ...[...pagesFor()].map(([right, pages]): [Right, string] => [right, `Open ${pages.join(', ')}`]),
        ...(Object.entries(doing) as [Right, string][]),
      ].flatMap(([right, words]): Content[][] => {
        const scopes = scopesOf(right)
        return scopes ? [[words, scopes.join(', ')]] : []
      }),
    })}
  </div>`

const fields = (form: FilledForm): Html[] => [
  html`<div class="narrow">${textField(form, { name: 'name', label: 'Name', maxlength: 60, autocomplete: 'off' })}</div>`,
  scopeBoxes(
    'Scopes',
    combinableScopes.map((scope) => ({ scope, checked: form.typed.scopes?.includes(scope) ?? false })),
    form.problems.scopes,
  ),
]

const roleForm = (
  { token }: View,
  form: FilledForm,
  operation: string,
  action: string,
  button: string,
): Html =>
  html`<form class="sheet stack" method="post" action=${action}>
      ${tokenField(token)} ${formProblem(form)}
      <input type="hidden" name="operation" value=${operation} />
      ${fields(form)}
      <div class="decide">
        <button>${button}</button>
        <a class="button second" href=${rolesPath}>Cancel</a>
      </div>
    </form>
    ${section('Scopes in the dashboard', rightsByScopes(), 'Members with the role can also give an API client these scopes, and no others.')}`

export const newRoleView = (view: View, form: FilledForm, operation: string): Html => html`<div>
  ${heading('New role', 'Its members may do what an API token with these scopes may.')}
  ${roleForm(view, form, operation, rolesPath, 'Create role')}
</div>`

/** One custom role: its form, and its deletion. */
export function roleView(
  view: View,
  { roleId, name }: { roleId: string; name: string; scopes: readonly Scope[] },
  form: FilledForm,
  operation: string,
): Html {
  const at = `${rolesPath}/${roleId}`
  return html`<div>
    ${heading(name, copyable('role ID', roleId))} ${roleForm(view, form, operation, at, 'Save')}
    ${section(
      'Deletion',
      html`<details>
        <summary>Delete role…</summary>
        <form class="stack-tight" method="post" action=${`${at}/delete`}>
          ${tokenField(view.token)}<input type="hidden" name="operation" value=${operation} />
          <p>Only a role that no member has, and that no provider and no group gives, can be deleted.</p>
          <div><button class="dangerous">Delete role</button></div>
        </form>
      </details>`,
    )}
  </div>`
}
