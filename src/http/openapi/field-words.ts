import type { SwaggerTransformObject } from '@fastify/swagger'
import { anyMoment } from '../schemas.ts'
import { accessFields } from './fields/access.ts'
import { type Fields, type FieldWords, idsByPlace } from './fields/descriptions.ts'
import { licenseFields } from './fields/licenses.ts'
import { paymentFields } from './fields/payments.ts'
import { productFields } from './fields/products.ts'
import { webhookFields } from './fields/webhooks.ts'
import { admitsNull, choicesOf, eachSchema, isObject, type Json, operationsOf } from './json-schema.ts'

/** What fields and parameters mean that have the same meaning in all schemas. A schema's own words precede these. */
export const fields: Fields = {
  ...licenseFields,
  ...productFields,
  ...paymentFields,
  ...webhookFields,
  ...accessFields,
}

/** `license_id` and `licenseId` are one field, in the style of two interfaces. */
const wordsFor = (name: string): FieldWords | undefined =>
  fields[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]

/** Describes every field and parameter whose schema does not do it, and gives it an example. */
export function withFieldWords(transform: SwaggerTransformObject): SwaggerTransformObject {
  return (source) => {
    const document = transform(source)
    const { components, paths, webhooks }: Json = { ...document }
    eachSchema([components, paths, webhooks], ({ properties }) => {
      if (!isObject(properties)) return
      for (const [name, property] of Object.entries(properties)) {
        if (isObject(property)) describe(property, wordsFor(name))
      }
    })
    for (const { path, operation } of operationsOf({ paths, webhooks })) {
      for (const parameter of [operation.parameters ?? []].flat()) describeParameter(parameter, path)
    }
    return document
  }
}

function describeParameter(parameter: unknown, path: string): void {
  if (!isObject(parameter) || typeof parameter.name !== 'string') return
  const { name, schema } = parameter
  if (!isObject(schema)) return
  const place = /(?<place>[^/]+)\/\{id\}/.exec(path)?.groups?.place ?? ''
  describe(schema, name === 'id' ? idsByPlace[place] : wordsFor(name))
  // The words of a parameter stand beside its schema.
  parameter.description ??= schema.description
  delete schema.description
}

function describe(schema: Json, words: FieldWords | undefined): void {
  if (words && isUndescribed(schema)) {
    const { description, orNull } = words
    schema.description = orNull && admitsNull(schema) ? `${description}; null ${orNull}` : description
  }
  if (!isUndescribed(schema)) for (const inner of choicesOf(schema)) forgetGeneric(inner)
  if (!words || ('example' in schema && schema.example !== anyMoment.example)) return
  delete schema.example
  if (fits(schema, words.example)) schema.example = words.example
}

const isUndescribed = ({ description }: Json): boolean =>
  description === undefined || description === anyMoment.description

/** What is said of every moment does not help where the field itself is described. */
function forgetGeneric(schema: Json): void {
  if (schema.description !== anyMoment.description) return
  delete schema.description
  delete schema.example
}

/** Whether a value may be an example of a schema. Fields of one name may have different types. */
function fits(schema: Json, value: unknown): boolean {
  if (value === undefined || '$ref' in schema) return false
  if (value === null) return admitsNull(schema)
  const choices = choicesOf(schema)
  if (choices.length > 0) return choices.some((one) => fits(one, value))
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) return false
  if ('const' in schema && schema.const !== value) return false
  return [schema.type ?? []].flat().some((type) => hasType(value, type))
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
