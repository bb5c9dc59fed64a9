/** What a field or parameter of one name means in every schema that says nothing of its own about it. */
export type FieldWords = {
  description: string
  /** What null means, where a schema admits it. */
  orNull?: string
  /** A value for examples. With null the field is null in them, or left out where it is optional. */
  example: unknown
}

export type Fields = Record<string, FieldWords>

const one = (what: string, prefix: string): FieldWords => ({
  description: `The id of the ${what}`,
  example: `${prefix}_06f5w3k8hx7vq2m4n9t1r0s5zc`,
})

/** What `{id}` means in a path, by the segment before it. */
export const idsByPlace: Record<string, FieldWords> = {
  tokens: one('token', 'tok'),
  confirmations: one('confirmation', 'cnf'),
  licenses: one('license', 'lic'),
  customers: one('customer', 'cus'),
  deliveries: one('delivery', 'whd'),
  replays: one('replay', 'whr'),
  sales: one('sale', 'sal'),
  'test-purchase': one('test purchase', 'tp'),
}
