// Parents before their children, siblings in order of their start. Forged frames may describe a
// circle: a node that no root reaches becomes a root.

type Node<T> = { readonly life: T; readonly parent: T | undefined };

export type Placed<T> = Node<T> & { readonly depth: number };

/** `nodes` are in order of their start. Any depth: there is no recursion. */
export function treeOrder<T>(nodes: readonly Node<T>[]): Placed<T>[] {
  const children = new Map<T, Node<T>[]>();
  const known = new Set(nodes.map(({ life }) => life));
  const roots: Node<T>[] = [];
  for (const node of nodes) {
    const siblings = node.parent === undefined ? undefined : children.get(node.parent);
    if (siblings !== undefined) siblings.push(node);
    else if (node.parent === undefined || !known.has(node.parent)) roots.push(node);
    else children.set(node.parent, [node]);
  }
  const placed: Placed<T>[] = [];
  const seen = new Set<T>();
  const place = (root: Node<T>): void => {
    const waiting: Placed<T>[] = [{ ...root, parent: undefined, depth: 0 }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next.life)) continue;
      seen.add(next.life);
      placed.push(next);
      const own = children.get(next.life) ?? [];
      for (const child of own.toReversed()) waiting.push({ ...child, depth: next.depth + 1 });
    }
  };
  for (const root of roots) place(root);
  for (const node of nodes) if (!seen.has(node.life)) place(node);
  return placed;
}
