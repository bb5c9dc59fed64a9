import type { Scim } from '../../domain/scim/scim.ts'
import { type Html, html } from '../../html.ts'
import { scimPath } from '../../http/scim-errors.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem, textArea } from '../forms/form-fields.ts'
import type { View } from '../frame/page.ts'
import { copyable, facts, heading, section, table, tokenField } from '../frame/parts.ts'
import { nameOfRole, type Roles, roleChoices, roleList } from '../members/role-names.ts'

export const directoryPath = '/dashboard/settings/directory'

/** The section on the settings page. */
export function directorySummary({ settings, groups }: Scim, roles: Roles, mayManage: boolean): Html {
  return html`<div class="sheet stack">
    ${facts([
      ['Groups', groups.length === 0 ? 'none' : String(groups.length)],
      ['Groups with a role', settings.roles.length === 0 ? 'none' : String(settings.roles.length)],
      ['Default role', settings.defaultRole ? nameOfRole(roles, settings.defaultRole) : 'none: no access'],
    ])}
    ${mayManage && html`<div><a class="button second" href=${directoryPath}>Change</a></div>`}
  </div>`
}

export function directoryView(
  view: View,
  { settings, groups }: Scim,
  roles: Roles,
  form: FilledForm,
  operation: string,
): Html {
  const roleOf = (name: string) => {
    const role = settings.roles.find(({ group }) => group === name)?.role
    return role ? nameOfRole(roles, role) : 'none'
  }
  return html`<div>
    ${heading('Directory', 'A directory, such as Microsoft Entra or Okta, adds and removes members over SCIM 2.0.')}
    <div class="sheet">
      ${facts([
        ['Base URL', copyable('base URL', `${view.baseUrl}${scimPath}`)],
        [
          'API token',
          html`<a href="/dashboard/tokens/new">Create one</a> with the scope <code>scim</code> and no other`,
        ],
      ])}
    </div>
    ${section(
      'Roles',
      html`<form class="sheet stack" method="post" action=${directoryPath}>
        ${tokenField(view.token)} ${formProblem(form)}
        <input type="hidden" name="operation" value=${operation} />
        ${textArea(form, {
          name: 'roles',
          label: 'Roles (optional)',
          hint: `One in each line, as group: role. The first that fits counts. Roles are ${roleList(roles)}.`,
          required: false,
        })}
        ${choiceField(form, {
          name: 'defaultRole',
          label: 'Default role',
          hint: 'For members in no group with a role. Without groups above, only new members get it.',
          choices: [['', 'None: no access'], ...roleChoices(roles)],
        })}
        <div><button>Save</button></div>
      </form>`,
      'Members of the directory get these roles at once. The last owner stays one.',
    )}
    ${section(
      'Groups',
      groups.length === 0
        ? html`<p class="lead">The directory has sent no groups yet.</p>`
        : html`<div class="sheeted">
            ${table({
              caption: 'Groups',
              columns: [{ label: 'Group' }, { label: 'Role' }],
              rows: groups.map(({ displayName }) => [displayName, roleOf(displayName)]),
            })}
          </div>`,
    )}
  </div>`
}
