import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { listCustomRoles } from '../../../projections/custom-roles.ts'
import {
  addCustomRole,
  changeCustomRole,
  removeCustomRole,
  requireCustomRole,
} from '../../commands/custom-roles.ts'
import { isId, newId } from '../../credentials/id.ts'
import { type KeptRole, maxRoles } from '../../domain/custom-roles/custom-roles.ts'
import type { CustomRole } from '../../domain/members/roles.ts'
import type { RefusalCode } from '../../domain/refusal.ts'
import { roleFields } from '../../gate/operations/custom-roles.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { boxes, formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { newRoleView, rolesPath, rolesView, roleView } from './roles-view.ts'

/** Created with the form, so that sending it twice changes things once. */
const operation = z.string().refine((id) => isId('req', id))

const RoleForm = z.object({
  operation,
  name: z.string().trim().min(1, 'Enter a name.').pipe(roleFields.name),
  scopes: boxes.refine((chosen) => chosen.length > 0, 'Choose at least one scope.').pipe(roleFields.scopes),
})
const OperationForm = z.object({ operation })

const fieldOf: Partial<Record<RefusalCode, readonly [field: string, sentence: string]>> = {
  role_exists: ['name', 'A role with this name already exists. Choose another name.'],
}

const path = '/members/roles'
const manage = pageRoute({ page: 'manage_members' })
const manageForm = pageRoute({ page: 'manage_members', proof: 'send' })
const trail = [
  { label: 'Members', href: '/dashboard/members' },
  { label: 'Roles', href: rolesPath },
]

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** Where owners say what roles of their own allow. */
export function rolePages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  app.get(path, manage, async (request, reply) => {
    const { roles } = await listCustomRoles(ports.db, principalOf(request).tenantId)
    const content = () => rolesView(roles, roles.length >= maxRoles)
    return show(reply, { title: 'Roles', nav: 'members', content })
  })

  const form = (reply: FastifyReply, filled: FilledForm) =>
    show(reply, {
      title: 'New role',
      nav: 'members',
      trail,
      content: (view) => newRoleView(view, filled, newId('req')),
      form: filled,
    })

  app.get(`${path}/new`, manage, async (_request, reply) =>
    form(reply, newForm({ scopes: ['licenses:read'] })),
  )

  app.post(path, manageForm, async (request, reply) => {
    const { filled, data } = readForm(RoleForm, request)
    if (!data) return form(reply, filled)
    const { operation: id, ...body } = data
    const { tenantId } = principalOf(request)
    try {
      await addCustomRole(ports, tenantId, body, { id, origin: originOfMember(request) })
      return redirectWith(reply, rolesPath, 'Role created. Give it to members on their pages.')
    } catch (error) {
      return form(reply, refusedForm(error, filled, fieldOf))
    }
  })

  onePages(app, context)
}

function onePages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  const roleOf = (request: OneRequest) =>
    requireCustomRole(ports, principalOf(request).tenantId, request.params.id)
  const form = (reply: FastifyReply, role: KeptRole, filled: FilledForm) =>
    show(reply, {
      title: role.name,
      nav: 'members',
      trail,
      content: (view) => roleView(view, role, filled, newId('req')),
      form: filled,
    })

  app.get(`${path}/:id`, manage, async (request: OneRequest, reply) => {
    const role = await roleOf(request)
    return form(reply, role, formOfRole(role))
  })

  app.post(`${path}/:id`, manageForm, async (request: OneRequest, reply) => {
    const role = await roleOf(request)
    const { filled, data } = readForm(RoleForm, request)
    if (!data) return form(reply, role, filled)
    const { operation: id, ...body } = data
    const { tenantId } = principalOf(request)
    try {
      await changeCustomRole(ports, tenantId, role.roleId, body, { id, origin: originOfMember(request) })
      return redirectWith(reply, rolesPath, 'Role saved. It counts from the next request of each member.')
    } catch (error) {
      return form(reply, role, refusedForm(error, filled, fieldOf))
    }
  })

  app.post(`${path}/:id/delete`, manageForm, async (request: OneRequest, reply) => {
    const role = await roleOf(request)
    const { operation: id } = formOf(OperationForm, request)
    const { tenantId } = principalOf(request)
    try {
      await removeCustomRole(ports, tenantId, role.roleId, { id, origin: originOfMember(request) })
      return redirectWith(reply, rolesPath, 'Role deleted.')
    } catch (error) {
      return form(reply, role, refusedForm(error, formOfRole(role)))
    }
  })
}

const formOfRole = ({ name, scopes }: CustomRole): FilledForm => newForm({ name, scopes })
