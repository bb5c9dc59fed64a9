/** The tenant and the product that a first start makes for trying things out. */
export const demo = { tenantId: 'demo', productId: 'demo-app', keyTypeId: 'pro' } as const

/** The product of a tenant that no member made; undefined for a tenant without one. */
export const demoProductOf = (tenantId: string): string | undefined =>
  tenantId === demo.tenantId ? demo.productId : undefined
