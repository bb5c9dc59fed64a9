import type { FastifyInstance } from 'fastify'
import { notFound } from '../../http/problem.ts'
import { groupSchema } from './group.ts'
import { listOf, mostOnPage } from './list.ts'
import { answerWith, type Base, reading } from './route.ts'
import { userSchema } from './user.ts'

const no = { supported: false }

const config = (base: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: mostOnPage },
  changePassword: no,
  sort: no,
  etag: no,
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'API token',
      description: 'An API token of the workspace with the scope scim, as a bearer token',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
})

const resourceTypes = (base: string) =>
  (
    [
      ['User', '/Users', userSchema, 'A member of the workspace'],
      ['Group', '/Groups', groupSchema, 'A group of the directory, which may give its members a role'],
    ] as const
  ).map(([id, endpoint, schema, description]) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id,
    name: id,
    endpoint,
    description,
    schema,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${id}` },
  }))

type About = {
  type?: 'string' | 'boolean' | 'complex' | 'reference'
  multiValued?: boolean
  required?: boolean
  caseExact?: boolean
  mutability?: 'readWrite' | 'readOnly' | 'immutable'
  uniqueness?: 'none' | 'server'
  subAttributes?: object[]
  referenceTypes?: string[]
}

const attribute = (name: string, description: string, about: About = {}): object => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...about,
})

const readOnly = { mutability: 'readOnly', caseExact: true } as const

const schemas = (base: string) =>
  [
    {
      id: userSchema,
      name: 'User',
      description: 'A member of the workspace',
      attributes: [
        attribute('userName', 'The unique name of the user; an email address, unless emails is sent', {
          required: true,
          uniqueness: 'server',
        }),
        attribute('externalId', 'The id of the user in the directory', { caseExact: true }),
        attribute('displayName', 'The name to show'),
        attribute('name', 'The parts of the name', {
          type: 'complex',
          subAttributes: [
            attribute('formatted', 'The whole name'),
            attribute('familyName', 'The family name'),
            attribute('givenName', 'The given name'),
          ],
        }),
        attribute('emails', 'The address that the user signs in with; one is kept', {
          type: 'complex',
          multiValued: true,
          subAttributes: [
            attribute('value', 'The email address'),
            attribute('type', 'Always work', { mutability: 'readOnly' }),
            attribute('primary', 'Always true', { type: 'boolean', mutability: 'readOnly' }),
          ],
        }),
        attribute('active', 'Whether the user may have access', { type: 'boolean' }),
        attribute('groups', 'The groups that the user is in', {
          type: 'complex',
          multiValued: true,
          mutability: 'readOnly',
          subAttributes: [
            attribute('value', 'The id of the group', readOnly),
            attribute('$ref', 'The URL of the group', {
              ...readOnly,
              type: 'reference',
              referenceTypes: ['Group'],
            }),
            attribute('display', 'The name of the group', { mutability: 'readOnly' }),
            attribute('type', 'Always direct', { mutability: 'readOnly' }),
          ],
        }),
      ],
    },
    {
      id: groupSchema,
      name: 'Group',
      description: 'A group of the directory',
      attributes: [
        attribute('displayName', 'The unique name of the group, which may be mapped to a role', {
          required: true,
          uniqueness: 'server',
        }),
        attribute('externalId', 'The id of the group in the directory', { caseExact: true }),
        attribute('members', 'The users in the group; there are no groups in groups', {
          type: 'complex',
          multiValued: true,
          subAttributes: [
            attribute('value', 'The id of the user', { caseExact: true, mutability: 'immutable' }),
            attribute('$ref', 'The URL of the user', {
              ...readOnly,
              type: 'reference',
              referenceTypes: ['User'],
            }),
            attribute('display', 'The userName of the user', { mutability: 'readOnly' }),
            attribute('type', 'Always User', { mutability: 'readOnly' }),
          ],
        }),
      ],
    },
  ].map((schema) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...schema,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
  }))

/** What this interface supports, by RFC 7644, section 4. */
export function discoveryRoutes(app: FastifyInstance, base: Base): void {
  app.get('/ServiceProviderConfig', reading(), async (_request, reply) =>
    answerWith(reply, 200, config(base)),
  )
  collection(app, '/ResourceTypes', 'resource type', resourceTypes(base))
  collection(app, '/Schemas', 'schema', schemas(base))
}

function collection(
  app: FastifyInstance,
  path: string,
  what: string,
  resources: readonly { id: string }[],
): void {
  app.get(path, reading(), async (_request, reply) => answerWith(reply, 200, listOf(resources)))
  app.get<{ Params: { id: string } }>(`${path}/:id`, reading(), async (request, reply) => {
    const found = resources.find(({ id }) => id === request.params.id)
    if (!found) throw notFound(what)
    return answerWith(reply, 200, found)
  })
}
