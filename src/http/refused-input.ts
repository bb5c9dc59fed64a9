/** Input that is refused before it is validated. It is no Problem, so that callers are authenticated first. */
export class RefusedInput extends Error {
  readonly statusCode = 400
}
