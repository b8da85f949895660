package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
)

// mutant is one generated edit of a file.
type mutant struct {
	// name says where the edit is and what it does: the function, the code as it is, and what the code becomes. It is
	// unique in its file, and moves with the code.
	name   string
	edited []byte
}

// turned are the operators that are replaced by others of the same type.
var turned = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutants returns every edit of a file that is known here. Some of them do not compile.
func mutants(path string, source []byte) ([]mutant, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	count := map[string]int{}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		at := func(p token.Pos) int { return files.Position(p).Offset }
		// edit replaces the code from one place to another, and names the mutant by all of that code.
		edit := func(whole ast.Node, from, to token.Pos, replacement string) {
			before := string(source[at(whole.Pos()):at(from)])
			after := string(source[at(to):at(whole.End())])
			was := string(source[at(whole.Pos()):at(whole.End())])
			name := fmt.Sprintf("%s: %s -> %s", function.Name.Name, short(was), short(before+replacement+after))
			if count[name]++; count[name] > 1 {
				name += fmt.Sprintf(" (%d)", count[name])
			}
			edited := string(source[:at(from)]) + replacement + string(source[at(to):])
			all = append(all, mutant{name, []byte(edited)})
		}
		negate := func(condition ast.Expr) {
			if condition != nil {
				was := string(source[at(condition.Pos()):at(condition.End())])
				edit(condition, condition.Pos(), condition.End(), "!("+was+")")
			}
		}
		ast.Inspect(function.Body, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.IfStmt:
				negate(n.Cond)
			case *ast.ForStmt:
				negate(n.Cond)
			case *ast.BinaryExpr:
				if other, ok := turned[n.Op]; ok {
					edit(n, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
				}
			case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt:
				edit(n, n.Pos(), n.End(), "")
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					edit(n, n.Pos(), n.End(), "")
				}
			case *ast.ReturnStmt:
				for _, result := range n.Results {
					if name, ok := result.(*ast.Ident); ok && (name.Name == "true" || name.Name == "false") {
						edit(n, name.Pos(), name.End(), map[string]string{"true": "false", "false": "true"}[name.Name])
					}
				}
			}
			return true
		})
	}
	return all, nil
}

// short is a piece of code in one line.
func short(code string) string {
	if code == "" {
		return "nothing"
	}
	if formatted, err := format.Source([]byte(code)); err == nil {
		code = string(formatted)
	}
	return strings.Join(strings.Fields(code), " ")
}
