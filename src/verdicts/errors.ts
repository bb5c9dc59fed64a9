/** The tenant has no product with the requested id. */
export class NoSuchProduct extends Error {
  constructor() {
    super('this account has no product with this product_id')
    this.name = 'NoSuchProduct'
  }
}

/**
 * The state is unknown at the moment: part of the history is parked, or the read models are about to change.
 */
export class StateUnreadable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StateUnreadable'
  }
}
