package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// What a Go program can use has a comment, so that the reference says something of it: functions, methods, types, and
// groups of constants and variables. Methods that the language or the standard library defines need none.
func TestPublicGoIsDocumented(t *testing.T) {
	defined := map[string]bool{"Error": true, "Unwrap": true, "Is": true, "String": true}
	for _, name := range goPackages {
		files, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", name, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			missing := func(at token.Pos, what string, comments ...*ast.CommentGroup) {
				for _, c := range comments {
					if c.Text() != "" {
						return
					}
				}
				t.Errorf("%s: %s has no comment", fset.Position(at), what)
			}
			for _, decl := range parsed.Decls {
				switch decl := decl.(type) {
				case *ast.FuncDecl:
					name := decl.Name
					if !name.IsExported() || decl.Recv != nil && (defined[name.Name] || !ofExported(decl.Recv)) {
						continue
					}
					missing(decl.Pos(), name.Name, decl.Doc)
				case *ast.GenDecl:
					documented(decl, missing)
				}
			}
		}
	}
}

// ofExported reports whether a receiver is of an exported type.
func ofExported(receiver *ast.FieldList) bool {
	of := receiver.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		default:
			return of.(*ast.Ident).IsExported()
		}
	}
}

// documented looks at the types of a declaration, and at constants or variables, of which those that follow each other
// may share a comment.
func documented(decl *ast.GenDecl, missing func(token.Pos, string, ...*ast.CommentGroup)) {
	shared := decl.Doc
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			if spec.Doc != nil {
				shared = spec.Doc
			}
			if name := spec.Names[0]; name.IsExported() {
				missing(spec.Pos(), name.Name, spec.Comment, shared)
			}
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				missing(spec.Pos(), spec.Name.Name, spec.Doc, decl.Doc)
			}
		}
	}
}
