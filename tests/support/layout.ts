import { posix } from "node:path";
import ts from "typescript";

/** What a source tree may look like. The parts of a tree are the folders and the single files right under it. */
export interface LayoutRules {
  /** For each part, the other parts that it may import. A part that is not named here is an error. */
  readonly mayImport: Readonly<Record<string, readonly string[]>>;
  /** Folders without an `index.ts`: others import their files. */
  readonly openFolders: readonly string[];
  /** For a folder, the parts that may import its files although it has an `index.ts`, for that is the public entry. */
  readonly insiders: Readonly<Record<string, readonly string[]>>;
  /** Parts that may name the types of one another's files directly. */
  readonly sharedTypes: readonly string[];
  /** The modules from outside the tree, and the only file, or folder with a slash behind it, that may import each. */
  readonly outside: Readonly<Record<string, string>>;
  readonly maxLines: number;
}

/**
 * Holds a source tree against the rules.
 *
 * @param files - Source text by path, relative to the root of the tree, with forward slashes.
 * @returns One line per fault, `file: what is wrong`; empty when all is well.
 */
export function layoutFaults(files: ReadonlyMap<string, string>, rules: LayoutRules): string[] {
  const faults: string[] = [];
  for (const [file, text] of files) {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const found = [
      ...lengthFault(text, rules),
      ...(posix.basename(file) === "index.ts" ? indexFaults(source) : []),
      ...[...source.referencedFiles, ...source.typeReferenceDirectives].map(
        ({ fileName }) => `refers to ${fileName}`,
      ),
      ...importsOf(source).flatMap((found) => importFault(file, found, files, rules) ?? []),
    ];
    faults.push(...found.map((fault) => `${file}: ${fault}`));
  }
  return faults;
}

interface Import {
  /** Undefined where the specifier is computed. */
  readonly specifier: string | undefined;
  readonly typeOnly: boolean;
}

/** Every way in which TypeScript lets a file name another module. */
function importsOf(source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    const known = specifier !== undefined && ts.isStringLiteralLike(specifier);
    found.push({ specifier: known ? specifier.text : undefined, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node)) {
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    } else if (ts.isExternalModuleReference(node)) {
      add(node.expression, false);
    } else if (ts.isCallExpression(node) && loadsModule(node.expression)) {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function loadsModule(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require")
  );
}

function importFault(
  file: string,
  { specifier, typeOnly }: Import,
  files: ReadonlyMap<string, string>,
  rules: LayoutRules,
): string | undefined {
  if (specifier === undefined) return "imports a module whose name is computed";
  if (!specifier.startsWith(".")) {
    const home = rules.outside[specifier];
    const isAtHome = home !== undefined && (home.endsWith("/") ? file.startsWith(home) : file === home);
    return isAtHome ? undefined : `imports ${specifier} from outside`;
  }
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts");
  if (!specifier.endsWith(".js") || !files.has(target))
    return `imports ${specifier}, which is no source file`;

  const [from, to] = [partOf(file), partOf(target)];
  const targetIsIndex = posix.basename(target) === "index.ts";
  if (from === to) {
    return targetIsIndex ? `imports ${specifier}, the index of its own folder: import the file` : undefined;
  }
  if (rules.mayImport[from]?.includes(to) !== true) return `imports ${to}: ${from} may not know it`;
  const isFile = !target.includes("/");
  const sharesTypes = typeOnly && rules.sharedTypes.includes(from) && rules.sharedTypes.includes(to);
  const isInsider = rules.insiders[to]?.includes(from) === true;
  if (isFile || targetIsIndex || isInsider || rules.openFolders.includes(to) || sharesTypes) return undefined;
  return `imports ${specifier}, inside another folder: import ${to}/index.js`;
}

function partOf(path: string): string {
  return (path.split("/", 1)[0] as string).replace(/\.ts$/, "");
}

function lengthFault(text: string, { maxLines }: LayoutRules): string[] {
  const lines = text.replace(/\n$/, "").split("\n").length;
  return lines > maxLines ? [`has ${String(lines)} lines, ${String(maxLines)} are allowed`] : [];
}

/** An index file names what others may use, one by one, and holds nothing else. */
function indexFaults(source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    const named =
      ts.isExportDeclaration(statement) &&
      statement.moduleSpecifier !== undefined &&
      statement.exportClause !== undefined &&
      ts.isNamedExports(statement.exportClause);
    return named ? [] : [`holds more than names: ${firstLine(statement.getText(source))}`];
  });
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] as string;
}
