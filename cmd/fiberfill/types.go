package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/fiberfill/fiberfill/internal/modules"
)

// types prints the TypeScript type of a guest's exported functions, the parameter of fiberfill's instantiate.
func types(path string, to io.Writer) error {
	return exportsOf(path, func(exports exports) error { return writeTypes(exports, to) })
}

type exports map[string]api.FunctionDefinition

// exportsOf calls the function then with the exported functions of a module.
func exportsOf(path string, then func(exports) error) error {
	binary, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(
		api.CoreFeaturesV2|experimental.CoreFeaturesExceptionHandling|experimental.CoreFeaturesTailCall|
			experimental.CoreFeaturesExtendedConst|experimental.CoreFeaturesTypedFunctionReferences))
	defer runtime.Close(ctx)
	compiled, err := modules.Compile(ctx, runtime, binary)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return then(compiled.ExportedFunctions())
}

func writeTypes(exports exports, to io.Writer) error {
	var text strings.Builder
	text.WriteString("export interface Exports {\n")
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		key := name
		if !identifier.MatchString(name) || name == "new" { // which would make it a constructor
			quoted, _ := json.Marshal(name) // a string can always be encoded
			key = string(quoted)
		}
		var params, results []string
		for i, t := range exports[name].ParamTypes() {
			params = append(params, fmt.Sprintf("p%d: %s", i, typeScript(t)))
		}
		for _, t := range exports[name].ResultTypes() {
			results = append(results, typeScript(t))
		}
		result := strings.Join(results, ", ")
		switch len(results) {
		case 0:
			result = "void"
		case 1:
		default:
			result = "[" + result + "]"
		}
		fmt.Fprintf(&text, "  %s(%s): %s;\n", key, strings.Join(params, ", "), result)
	}
	text.WriteString("}\n")
	_, err := io.WriteString(to, text.String())
	return err
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// typeScript returns the type that JavaScript has for a type of wasm.
func typeScript(t api.ValueType) string {
	switch t {
	case api.ValueTypeI32, api.ValueTypeF32, api.ValueTypeF64:
		return "number"
	case api.ValueTypeI64:
		return "bigint"
	case 0x7b: // v128 cannot cross to JavaScript
		return "never"
	}
	return "unknown"
}
