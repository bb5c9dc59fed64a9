import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'

const Described = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        responses: z.record(
          z.string(),
          z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })).optional() }),
        ),
      }),
    ),
  ),
})

type GivenAnswer = { status: number; contentType: string | undefined; body: unknown }

/** Throws when a response is not one that the OpenAPI document allows for the operation. */
export type CheckAnswer = (method: string, url: string, answer: GivenAnswer) => void

/**
 * Checks responses against an OpenAPI 3.1 document: the status, the content type, and the schema of a JSON body.
 * Undocumented paths and methods are ignored.
 * @param description as `GET /v1/openapi.json` serves it
 */
export function createAnswerCheck(description: object): CheckAnswer {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ ...description, $id: 'openapi' })
  const { paths } = Described.parse(description)
  const described = Object.entries(paths)
    .map(([path, operations]) => ({ path, operations, pattern: patternOf(path) }))
    // A path without parameters is preferred to a template that it would match too.
    .toSorted((left, right) => parametersIn(left.path) - parametersIn(right.path))
  const compiled = new Map<string, ValidateFunction>()

  function schemaAt(...place: string[]): ValidateFunction {
    const pointer = `openapi#/${place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: pointer })
    compiled.set(pointer, known)
    return known
  }

  return (method, url, { status, contentType, body }) => {
    const [asked = ''] = url.split('?', 1)
    const found = described.find(({ pattern }) => pattern.test(asked))
    const operation = found?.operations[method.toLowerCase()]
    if (!operation) return
    const { path } = found
    const said = `${method} ${path} answered ${status}`
    const response = operation.responses[status]
    if (!response) throw new Error(`${said}, which is not described`)
    if (contentType === undefined) return
    const [type = ''] = contentType.split(';', 1)
    if (!response.content?.[type]) throw new Error(`${said} with ${type}, which is not described`)
    if (type !== 'application/json' && !type.endsWith('+json')) return
    const fits = schemaAt(
      'paths',
      path,
      method.toLowerCase(),
      'responses',
      String(status),
      'content',
      type,
      'schema',
    )
    if (!fits(body)) throw new Error(`${said} in another shape: ${ajv.errorsText(fits.errors)}`)
  }
}

const parametersIn = (path: string): number => path.split('{').length - 1

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`)
