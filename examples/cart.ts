interface Item {
  name: string;
  price: number;
  quantity: number;
}

export class Cart {
  private items: Item[] = [];

  add(item: Item): void {
    this.items.push(item);
  }

  /** The sum of price times quantity over all items. */
  total(): number {

  }

  clear(): void {
    this.items = [];
  }
}
